#include "monitor/logic/holdings.h"

#include <algorithm>

namespace tarcil::monitor {
namespace {

bool holdsAny(const RuSet& held, const std::vector<uint16_t>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&held](uint16_t number) { return held.contains(number); });
}

}  // namespace

bool Holdings::areFree(const LaunchSpec& spec) const {
  const auto server = servers_.find(spec.server);
  if (server == servers_.end()) return true;
  const OfServer& held = server->second;
  return !holdsAny(held.units, spec.rus) &&
         std::none_of(spec.extras.begin(), spec.extras.end(), [&held](const auto& wanted) {
           const auto kind = held.extras.find(wanted.first);
           return kind != held.extras.end() && holdsAny(kind->second, wanted.second);
         });
}

void Holdings::take(const LaunchSpec& spec) {
  OfServer& held = servers_[spec.server];
  for (RuIndex ru : spec.rus) held.units.insert(ru);
  for (const auto& [kind, numbers] : spec.extras) {
    for (uint16_t number : numbers) held.extras[kind].insert(number);
  }
}

void Holdings::release(const LaunchSpec& spec) {
  OfServer& held = servers_[spec.server];
  for (RuIndex ru : spec.rus) held.units.erase(ru);
  for (const auto& [kind, numbers] : spec.extras) {
    for (uint16_t number : numbers) held.extras[kind].erase(number);
  }
}

}  // namespace tarcil::monitor
