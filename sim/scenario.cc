#include "sim/scenario.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace tarcil::sim {

std::string_view name(PolicyName policy) {
  return kPolicyNames[static_cast<size_t>(policy)];
}

std::optional<PolicyName> policyNamed(std::string_view name) {
  const auto found = std::find(std::begin(kPolicyNames), std::end(kPolicyNames), name);
  if (found == std::end(kPolicyNames)) return std::nullopt;
  return static_cast<PolicyName>(found - std::begin(kPolicyNames));
}

uint64_t Scenario::units() const {
  uint64_t units = 0;
  for (const PlatformSize& platform : platforms) units += uint64_t{platform.units} * platform.servers;
  return units;
}

uint32_t Scenario::servers() const {
  uint32_t servers = 0;
  for (const PlatformSize& platform : platforms) servers += platform.servers;
  return servers;
}

void lay(const Recording& recording, ReplayTruth truth, Scenario& scenario) {
  scenario.workload = WorkloadKind::kReplay;
  scenario.truth = truth == ReplayTruth::kProfiles ? TruthKind::kProfiles : TruthKind::kNone;
  scenario.settings = recording.settings;
  scenario.warmUp = 0;
  scenario.replay = std::make_shared<const Replay>(replayOf(recording, truth));
  scenario.jobs = static_cast<uint32_t>(scenario.replay->workload.jobs.size());
  std::map<uint32_t, uint32_t> serversOfSize;
  for (const SimServer& server : scenario.replay->servers) ++serversOfSize[server.units];
  scenario.platforms.clear();
  for (const auto& [units, servers] : serversOfSize) scenario.platforms.push_back({units, servers});
}

}  // namespace tarcil::sim
