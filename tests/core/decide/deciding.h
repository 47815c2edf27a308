// What tests of choices say over and over.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/decide/chooser.h"
#include "tests/support/builders.h"

namespace tarcil {

// "s0", "s1" and so on.
inline std::vector<ServerBuilder> idle(uint32_t count, uint32_t rus = 4) {
  std::vector<ServerBuilder> servers;
  servers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) servers.push_back(aServer("s" + std::to_string(i)).rus(rus));
  return servers;
}

// The default settings, but ranked by quality, as the paper has it.
inline QualitySettings byQuality() {
  QualitySettings settings;
  settings.ranking = RankBy::kQuality;
  return settings;
}

// Places all tasks of the job, by quality.
inline Decision decide(const ClusterState& state, const JobSpec& spec, uint64_t seed = 1,
                       Standard standard = Standard::kAcceptable) {
  PlacementRequest request = placing(spec);
  request.standard = standard;
  return choose(state, request, byQuality(), seed);
}

// Names of the servers claimed, one for each claim.
inline std::vector<std::string> places(const ClusterState& state, const Decision& decision) {
  std::vector<std::string> names;
  names.reserve(decision.claims.size());
  for (const Claim& claim : decision.claims) names.emplace_back(state.name(claim.server));
  return names;
}

inline std::set<std::string> serversOf(const ClusterState& state, const Decision& decision) {
  const auto names = places(state, decision);
  return {names.begin(), names.end()};
}

inline JobSpec withPolicy(JobSpec spec, Policy policy) {
  spec.policy = policy;
  return spec;
}

}  // namespace tarcil
