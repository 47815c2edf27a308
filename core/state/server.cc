#include "core/state/server.h"

#include <algorithm>
#include <string_view>

#include "core/model/constraint.h"

namespace tarcil {
// Without making the entries of constraintAttributes(): the master asks this of thousands of servers for a
// job that waits.
std::optional<std::string_view> attributeOf(const ServerFacts& facts, std::string_view name) {
  if (name == "platform") return facts.platform;
  if (name == kRackAttribute) return facts.rack;
  if (name == kServerAttribute) return facts.name;
  const auto found = facts.attributes.find(std::string(name));
  if (found == facts.attributes.end()) return std::nullopt;
  return found->second;
}

std::map<std::string, std::string> constraintAttributes(const ServerFacts& facts) {
  std::map<std::string, std::string> attributes = facts.attributes;
  attributes["platform"] = facts.platform;
  attributes["rack"] = facts.rack;
  attributes["server"] = facts.name;
  return attributes;
}

ByteSupply byteSupplyOf(const ServerFacts& facts) {
  const uint64_t memory = facts.memoryBytes, percent = facts.memoryOvercommit;
  const uint64_t units = std::max(facts.rus, 1u);
  return {.allocatable = {memory / 100 * percent + memory % 100 * percent / 100, facts.diskBytes},
          .unitShare = {memory / units, facts.diskBytes / units}};
}

bool meets(const ServerFacts& facts, const std::vector<Constraint>& constraints) {
  return std::ranges::all_of(constraints, [&facts](const Constraint& constraint) {
    return meets(constraint, attributeOf(facts, constraint.attribute));
  });
}

}  // namespace tarcil
