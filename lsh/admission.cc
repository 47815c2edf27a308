#include "lsh/admission.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

// Share of the slots that come into matching buckets that the job can use: what a bucket's free units say of
// those that come, or where it has none, what those of the others say.
double usefulShare(const BucketIndex& index, const FlowHistory& history, const Matching& matching) {
  double came = 0, useful = 0, free = 0, borne = 0;
  for (size_t id = 0; id < matching.masks.size(); ++id) {
    const double units = matching.masks[id] != 0 ? index.buckets()[id].free() : 0;
    free += units;
    borne += units * static_cast<double>(matching.bearing[id]);
  }
  const double elsewhere = free > 0 ? borne / free : 1;
  for (BucketId id = 0; id < matching.masks.size(); ++id) {
    if (matching.masks[id] == 0) continue;
    const auto slots = static_cast<double>(std::max<int64_t>(0, history.total(id)));
    came += slots;
    const double bearing =
        index.buckets()[id].free() > 0 ? static_cast<double>(matching.bearing[id]) : elsewhere;
    useful += slots * bearing * static_cast<double>(matching.reach[id]);
  }
  return came > 0 ? useful / came : elsewhere;
}

WaitEstimate waitFor(const BucketIndex& index, double slots, uint32_t rus, double probability,
                     Matching& matching) {
  const bool goesNowhere =
      !matching.masks.empty() && std::ranges::all_of(matching.masks, [](uint32_t mask) { return mask == 0; });
  const FlowHistory* history = goesNowhere ? nullptr : index.history(slotSize(rus));
  const double useful = history ? usefulShare(index, *history, matching) : 0;
  if (useful <= 0) return {.basis = WaitEstimate::Basis::kTooFew};
  history->sums(matching.masks, matching.came);
  return estimateWait(matching.came, history->interval(), {slots, useful}, probability);
}

}  // namespace

void match(const BucketIndex& index, const Suitor& suitor, Matching& matching) {
  const std::span<const Bucket> buckets = index.buckets();
  while (matching.ids.size() < buckets.size())
    matching.ids.push_back(static_cast<BucketId>(matching.ids.size()));
  matching.masks.assign(buckets.size(), 0);
  matching.bearing.assign(buckets.size(), 0);
  matching.reach.assign(buckets.size(), 0);
  matching.glances.resize(buckets.size());
  glance(suitor.newcomers, index.means(), std::span(matching.ids).first(buckets.size()), matching.glances);
  matching.slots = 0;
  double all = 0;
  for (PlatformId platform = 0; platform * index.perPlatform() < buckets.size(); ++platform) {
    const double reach = suitor.reach.empty() ? 1 : suitor.reach[platform];
    if (reach <= 0) continue;
    const Newcomer& newcomer = suitor.newcomers[platform];
    const Burden its = burden(newcomer);
    const BucketId first = platform * index.perPlatform();
    for (BucketId id = first; id < first + index.perPlatform(); ++id) {
      const Glance& seen = matching.glances[id];
      if (seen.obstacle != Obstacle::kNone) continue;
      const auto slots = static_cast<double>(buckets[id].slots(suitor.rus));
      all += slots * reach;
      if (expectedPerformance(newcomer, seen) < suitor.least) continue;
      matching.masks[id] = UINT32_MAX;
      matching.bearing[id] = buckets[id].bearing(its);
      matching.reach[id] = static_cast<float>(reach);
      matching.slots += slots * reach * static_cast<double>(matching.bearing[id]);
    }
  }
  matching.p = all > 0 ? matching.slots / all : 0;
}

Admission admit(const BucketIndex& index, const Suitor& suitor, const Wish& wish,
                const AdmissionOptions& options, Matching& matching) {
  match(index, suitor, matching);
  Admission admission{.slots = matching.slots, .p = matching.p};
  const double missing = (wish.slots + wish.ahead) * (1 + options.headroom) - matching.slots;
  if (missing <= 0) return admission;
  admission.wait = waitFor(index, std::ceil(missing), suitor.rus, options.probability, matching);
  const bool known = admission.wait.basis == WaitEstimate::Basis::kHistory;
  admission.bound = wish.maxWait;
  if (!admission.bound && known) admission.bound = admission.wait.bound;
  // A wait beyond the history is longer than any bound within it; one that is not known is longer than none.
  const Duration likely = known ? admission.wait.likely : admission.wait.mean;
  admission.verdict = admission.bound && likely > *admission.bound ? Admit::kBestThereIs : Admit::kQueue;
  return admission;
}

}  // namespace tarcil
