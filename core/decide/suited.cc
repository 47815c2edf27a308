#include "core/decide/suited.h"

#include <algorithm>
#include <optional>

#include "core/decide/constraint.h"

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

double bestPlatformFactor(const ClusterState& state, const JobSpec& spec) {
  double highest = 0;
  for (const auto& [platform, servers] : state.platforms()) {
    highest = std::max(highest, platformFactor(spec.profile, platform));
  }
  if (spec.placement.constraints.empty()) return highest;

  double best = 0;
  for (ServerId id = 0; id < state.size() && best < highest; ++id) {
    if (!state.known(id)) continue;
    const double factor = platformFactor(spec.profile, state.facts(id).platform);
    if (factor > best && suits(state.facts(id), spec.placement.constraints)) best = factor;
  }
  return best;
}

uint64_t slotsIn(const ClusterState& state, const JobSpec& spec) {
  uint64_t slots = 0;
  for (ServerId id = 0; id < state.size(); ++id) {
    if (state.known(id) && suits(state.facts(id), spec.placement.constraints)) {
      slots += state.facts(id).rus / spec.rusPerTask;
    }
  }
  return slots;
}

}  // namespace tarcil
