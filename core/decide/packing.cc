#include "core/decide/packing.h"

#include <algorithm>
#include <queue>

namespace tarcil {

bool Group::ranksBefore(const Group& other) const {
  if (slots.size() != other.slots.size()) return slots.size() > other.slots.size();
  // Means differ in their last digits; groups that differ by less than a band of E are alike.
  const int band = bandOf(performance), others = bandOf(other.performance);
  if (band != others) return band < others;
  if (q != other.q) return q > other.q;
  return chance < other.chance;
}

Group bestGroup(Sites& sites, std::span<const uint32_t> members, size_t wanted,
                const std::function<uint32_t(ServerId)>& room) {
  struct Next {
    Offer offer;
    uint32_t site;
    uint32_t ownTasks;
  };
  const auto later = [](const Next& a, const Next& b) {
    return ranksBefore(b.offer, a.offer, Ranking::kQuality);
  };
  std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
  Group group;
  const auto push = [&](uint32_t number, uint32_t ownTasks) {
    const Site& site = sites[number];
    if (ownTasks - site.picked >= room(site.server)) return;
    const Offer offer = sites.offer(site, ownTasks);
    if (sites.mayTake(offer)) next.push({offer, number, ownTasks});
  };
  for (uint32_t number : members) push(number, sites[number].picked);
  while (group.slots.size() < wanted && !next.empty()) {
    const Next best = next.top();
    next.pop();
    if (group.slots.empty()) group.chance = best.offer.chance;
    group.slots.push_back(best.site);
    group.performance += best.offer.performance;
    group.q += normalized(best.offer.q);
    push(best.site, best.ownTasks + 1);
  }
  if (!group.slots.empty()) {
    group.performance /= static_cast<double>(group.slots.size());
    group.q /= static_cast<double>(group.slots.size());
  }
  return group;
}

}  // namespace tarcil
