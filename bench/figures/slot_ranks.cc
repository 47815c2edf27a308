#include "bench/figures/slot_ranks.h"

#include <algorithm>
#include <vector>

#include "core/decide/chooser.h"
#include "core/decide/sites.h"

namespace tarcil::bench {
namespace {

// A server with free slots, and what each of them offers, chance aside.
struct Offering {
  ServerId server;
  Offer offer;
  uint64_t slots;
};

bool isWorse(const Offering& a, const Offering& b) {
  return ranksBefore(b.offer, a.offer, Ranking::kQuality);
}

std::vector<Offering> offerings(const ClusterState& state, const JobSpec& spec,
                                const QualitySettings& settings) {
  PreparedJobs prepared;
  const std::vector<ServerId> nonePreferred;
  const Lookout lookout{.state = state,
                        .spec = spec,
                        .job = prepared.prepare(state, spec, judgingFor(spec, settings)),
                        .acceptableFrom = settings.target,
                        .preferred = nonePreferred};
  Sites sites;
  sites.start(lookout);
  std::vector<Offering> all;
  for (ServerId server = 0; server < state.size(); ++server) {
    const uint64_t slots = state.freeUnits(server) / spec.rusPerTask;
    if (slots == 0) continue;
    const auto number = static_cast<uint32_t>(all.size());
    all.push_back({server, sites.look({server, number}).first, slots});
    all.back().offer.chance = 0;
  }
  return all;
}

}  // namespace

SlotRanks::SlotRanks(const ClusterState& state, const JobSpec& spec, const QualitySettings& settings) {
  std::vector<Offering> all = offerings(state, spec, settings);
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
