#include "core/decide/suited.h"

#include <algorithm>
#include <optional>

#include "core/model/constraint.h"

namespace tarcil {
namespace {

std::optional<std::string> attributeOf(const ServerFacts& facts, const std::string& name) {
  if (name == "platform") return facts.platform;
  if (name == "rack") return facts.rack;
  if (name == "server") return facts.name;
  const auto it = facts.attributes.find(name);
  if (it == facts.attributes.end()) return std::nullopt;
  return it->second;
}

}  // namespace

bool suits(const ServerFacts& facts, const std::vector<Constraint>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(), [&facts](const Constraint& constraint) {
    std::map<std::string, std::string> asked;
    if (auto value = attributeOf(facts, constraint.attribute)) {
      asked.emplace(constraint.attribute, *std::move(value));
    }
    return meets(constraint, asked);
  });
}

}  // namespace tarcil
