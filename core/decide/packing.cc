#include "core/decide/packing.h"

#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/decide/domains.h"

namespace tarcil {
namespace {

// Servers of a rack up to which some are looked at that were not drawn.
constexpr size_t kMaxOfARack = 64;

// Sites, by number, that are judged together: those of one domain.
using Members = std::vector<uint32_t>;

// Slots that a job could take together, each judged with those before it in place.
struct Group {
  std::vector<uint32_t> slots;  // sites in the order of taking; a site once for each slot
  double performance = 0;       // mean E of the slots
  double q = 0;                 // mean Q
  uint64_t chance = 0;

  bool ranksBefore(const Group& other, Ranking ranking) const {
    if (slots.size() != other.slots.size()) return slots.size() > other.slots.size();
    // Means differ in their last digits; groups that differ by less than a band of E are alike.
    const int band = bandOf(performance, ranking), others = bandOf(other.performance, ranking);
    if (band != others) return band < others;
    if (q != other.q) return q > other.q;
    return chance < other.chance;
  }
};

// The best `wanted` slots of these sites together, or as many as may be taken. O((sites + wanted) log sites).
Group bestGroup(Sites& sites, const Members& members, size_t wanted, const SpreadCount& placed) {
  struct Next {
    Offer offer;
    uint32_t site;
    uint32_t ownTasks;
  };
  const auto later = [ranking = sites.ranking()](const Next& a, const Next& b) {
    return ranksBefore(b.offer, a.offer, ranking);
  };
  std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
  Group group;
  const auto push = [&](uint32_t number, uint32_t ownTasks) {
    const Site& site = sites[number];
    if (ownTasks - site.picked >= placed.room(site.server)) return;
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

// Beside these sites of one rack, the servers there that were not looked at yet; up to a bound in all.
void addOthersOfRack(SlotSearch& search, Members& members) {
  const ClusterState& state = search.context().state;
  const RackId rack = state.vacancy(search.sites()[members.front()].server).rack;
  for (ServerId server : state.serversIn(rack)) {
    if (members.size() >= kMaxOfARack) break;
    if (const auto number = search.lookAnew(server)) members.push_back(*number);
  }
}

// The sites that may be taken, by domain, in the order in which they were found.
std::vector<Members> sitesTogether(const std::string& pack, SlotSearch& search) {
  Sites& sites = search.sites();
  const Domains domains(search.context().state, pack);
  std::vector<Members> found;
  std::unordered_map<Domains::Key, size_t> numbers;
  for (uint32_t number = 0; number < sites.all().size(); ++number) {
    const Site& site = sites[number];
    if (!site.seen || !sites.mayTake(site.next)) continue;
    const auto [entry, isNew] = numbers.try_emplace(domains.of(site.server), found.size());
    if (isNew) found.emplace_back();
    found[entry->second].push_back(number);
  }
  if (pack == Domain::kRack) {
    for (Members& members : found) addOthersOfRack(search, members);
  }
  return found;
}

}  // namespace

void assignPacked(const std::string& pack, SlotSearch& search, const SpreadCount& placed,
                  Assignment& assignment) {
  Sites& sites = search.sites();
  const std::vector<Members> candidates = sitesTogether(pack, search);
  while (!assignment.isComplete()) {
    Group best;
    for (const Members& members : candidates) {
      Group group = bestGroup(sites, members, assignment.missing(), placed);
      if (!group.slots.empty() && (best.slots.empty() || group.ranksBefore(best, sites.ranking())))
        best = std::move(group);
    }
    if (best.slots.empty()) break;
    for (uint32_t number : best.slots) {
      if (!placed.isFull(sites[number].server)) assignment.assignNext(sites[number]);
    }
  }
}

}  // namespace tarcil
