#include "master/suitable.h"

#include <algorithm>

#include "core/model/constraint.h"

namespace tarcil::master {

bool isSuitable(const Server& server, const JobSpec& spec) {
  if (!server.status.up || server.status.cordoned) return false;
  if (spec.placement.constraints.empty()) return true;
  const auto attributes = constraintAttributes(server.record.facts);
  return std::ranges::all_of(spec.placement.constraints, [&attributes](const Constraint& constraint) {
    return meets(constraint, attributes);
  });
}

}  // namespace tarcil::master
