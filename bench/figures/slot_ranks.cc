#include "bench/figures/slot_ranks.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/model/quality.h"

namespace tarcil::bench {
namespace {

// A server with free slots, and what each of them offers: written here once more, plainly.
struct Offering {
  ServerId server = 0;
  uint64_t slots = 0;
  int standing = 0;  // 2: feasible and acceptable, 1: feasible
  double performance = 0;
  Encoded q = 0;
  double load = 0;

  // Larger is better.
  auto rank() const {
    // Acceptable slots count as alike where E differs by less than 0.02.
    const double e = standing == 2 ? -static_cast<int>((1 - performance) * 50) : performance;
    return std::tuple(standing, e, q, -load);
  }
};

bool isWorse(const Offering& a, const Offering& b) {
  return a.rank() < b.rank();
}

bool breaksResident(const JobView& job, const Vacancy& vacancy, const QualitySettings& settings) {
  PressureSum slack{};
  for (size_t i = 0; i < kResources; ++i) {
    const bool bounded = vacancy.slack[i] != Vacancy::kUnbounded;
    slack[i] = bounded ? vacancy.slack[i] - Vacancy::kNoSlack : kNoResident;
  }
  return settings.protectNeighbours && brokenResource(job.caused, slack, settings.noiseFloor) >= 0;
}

Offering offering(const ClusterState& state, ServerId server, const JobSpec& spec,
                  const QualitySettings& settings) {
  const Vacancy& vacancy = state.vacancy(server);
  const double factor = platformFactor(spec.profile, state.platformName(vacancy.platform));
  const JobView job = viewOn(spec.profile, state.share(vacancy.platform), factor);
  const Judgement judgement = judge(job, vacancy.contention, settings.model, settings.margin);
  Offering offers{.server = server, .slots = vacancy.free / spec.rusPerTask};
  offers.performance = expectedPerformance(job, judgement);
  offers.q = judgement.qNumerator;
  offers.load = static_cast<double>(vacancy.rus - vacancy.free) / vacancy.rus;
  if (!breaksResident(job, vacancy, settings))
    offers.standing = offers.performance >= settings.target ? 2 : 1;
  return offers;
}

}  // namespace

SlotRanks::SlotRanks(const ClusterState& state, const JobSpec& spec, const QualitySettings& settings) {
  std::vector<Offering> all;
  for (ServerId server = 0; server < state.size(); ++server) {
    if (state.freeUnits(server) >= spec.rusPerTask) all.push_back(offering(state, server, spec, settings));
  }
  std::sort(all.begin(), all.end(), isWorse);
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::upper_bound(begin, all.end(), *begin, isWorse);
    Equals equals{slots_, 0};
    for (auto at = begin; at != end; ++at) equals.slots += at->slots;
    for (; begin != end; ++begin) equals_[begin->server] = equals;
    slots_ += equals.slots;
  }
}

// The highest of R slots drawn from the n lowest is the j-th or a lower one with probability
// F(j) = C(j, R) / C(n, R); here it is known to be above the worse ones.
double SlotRanks::place(ServerId server, uint32_t ratio, Rng& rng) const {
  const Equals& equals = equals_.at(server);
  const auto stepDown = [ratio](uint64_t j) {  // F(j - 1) / F(j)
    return j <= ratio ? 0.0 : static_cast<double>(j - ratio) / static_cast<double>(j);
  };
  const uint64_t n = equals.worse + equals.slots;
  double least = 1;
  for (uint64_t j = n; j > equals.worse; --j) least *= stepDown(j);
  const double drawn = least + (1 - least) * rng.unit();
  uint64_t highest = n;
  for (double f = stepDown(n); highest > equals.worse + 1 && f > drawn; f *= stepDown(highest)) --highest;
  return (static_cast<double>(highest) - rng.unit()) / static_cast<double>(slots_);
}

}  // namespace tarcil::bench
