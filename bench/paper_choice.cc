#include "bench/paper_choice.h"

#include <algorithm>
#include <map>

#include "core/decide/sampler.h"

namespace tarcil::bench {
namespace {

struct Sampled {
  double q;
  ServerId server;
};

double qualityOf(const ClusterState& state, const JobSpec& spec, ServerId server, Eq5 formula) {
  const Vacancy& vacancy = state.vacancy(server);
  const JobView view = viewOn(spec.profile, state.share(vacancy.platform), 1.0);
  const Judgement judgement = judge(view, vacancy.contention, QualityModel::kEncoded, 0);
  return formula == Eq5::kPrinted ? literalQ(view, judgement) : q(judgement);
}

}  // namespace

Decision chooseByQ(const ClusterState& state, const JobSpec& spec, Eq5 formula, uint32_t ratio,
                   uint64_t seed) {
  Rng rng(seed);
  SlotSampler sampler;
  sampler.start(state.all(), state.vacancies(), spec.rusPerTask, rng);
  std::vector<SlotSampler::Slot> slots;
  sampler.draw(uint64_t{ratio} * spec.tasks, slots);
  std::vector<Sampled> sampled;
  sampled.reserve(slots.size());
  for (const auto& slot : slots) {
    sampled.push_back({qualityOf(state, spec, slot.server, formula), slot.server});
  }
  std::stable_sort(sampled.begin(), sampled.end(),
                   [](const Sampled& a, const Sampled& b) { return a.q > b.q; });
  Decision decision;
  decision.explanation.drawn = static_cast<uint32_t>(slots.size());
  std::map<ServerId, uint32_t> taken;
  for (TaskIndex task = 0; task < spec.tasks && task < sampled.size(); ++task) {
    Claim& claim = decision.claims.emplace_back();
    claim.task = task;
    claim.server = sampled[task].server;
    claim.rus = spec.rusPerTask;
    claim.preferred.resize(spec.rusPerTask);
    state.lowestFree(claim.server, claim.preferred, taken[claim.server]++ * spec.rusPerTask);
    claim.q = sampled[task].q;
  }
  return decision;
}

}  // namespace tarcil::bench
