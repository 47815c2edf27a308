#include "agent/logic/likely_servers.h"

#include <algorithm>
#include <utility>

#include "core/decide/chooser.h"
#include "core/decide/prepared_job.h"
#include "lsh/admission.h"

namespace tarcil::agent {
namespace {

// Servers reassigned with each change, while the index moves its centres.
constexpr uint32_t kStep = 16;

// The history of arrivals per bucket is not used here.
constexpr Duration kNoHistory = std::chrono::hours(24);

}  // namespace

LikelyServers::LikelyServers()
    : index_(std::make_unique<BucketIndex>(BucketOptions{.window = kNoHistory, .interval = kNoHistory})) {}

void LikelyServers::update(const ClusterState& state, ServerId server) {
  index_->update(server, state.vacancy(server), MonotonicTime{});
  index_->step(kStep);
}

void LikelyServers::updateAll(const ClusterState& state) {
  for (ServerId server = 0; server < state.size(); ++server) {
    if (state.known(server)) index_->update(server, state.vacancy(server), MonotonicTime{});
  }
  while (index_->step(kStep)) continue;
}

std::vector<ServerId> LikelyServers::draw(const ClusterState& state, const JobSpec& spec,
                                          const QualitySettings& settings, size_t atMost, Rng& rng) const {
  PreparedJobs prepared;
  const PreparedJob& job = prepared.prepare(state, spec, judgingFor(spec, settings));
  double best = 0;
  for (const Newcomer& newcomer : job.newcomers) best = std::max(best, newcomer.platformFactor);
  const Suitor suitor{.newcomers = job.newcomers,
                      .least = spec.target.value_or(settings.target) * best,
                      .rus = spec.rusPerTask};
  Matching matching;
  match(*index_, suitor, matching);
  std::vector<ServerId> servers;
  if (matching.p >= settings.rarity) return servers;
  for (BucketId bucket = 0; bucket < matching.masks.size(); ++bucket) {
    if (matching.masks[bucket] != 0) index_->addWithFree(bucket, servers);
  }
  // The first steps of a shuffle.
  const size_t count = std::min(atMost, servers.size());
  for (size_t i = 0; i < count; ++i) std::swap(servers[i], servers[i + rng.below(servers.size() - i)]);
  servers.resize(count);
  return servers;
}

}  // namespace tarcil::agent
