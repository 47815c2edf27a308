#include "core/decide/site_ranking.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

// Up to so many sites are ranked by insertion.
constexpr size_t kFew = 8;
// Of more, this many times as many as are wanted are gathered before the last of them are dropped.
constexpr size_t kGathered = 3;

}  // namespace

std::vector<uint32_t>& SiteRanking::best(Sites& sites, const SearchContext& context, size_t count) {
  std::vector<Ranked>& ranked = ranked_;
  ranked.clear();
  const auto before = [&](const Ranked& a, const Ranked& b) {
    if (a.key != b.key) return a.key < b.key;
    return ranksBefore(sites[a.site].next, sites[b.site].next, context.ranking);
  };
  uint64_t worst = UINT64_MAX;
  for (uint32_t number = 0; number < sites.all().size(); ++number) {
    const Site& site = sites[number];
    if (!site.seen || site.closed == static_cast<uint8_t>(Dropped::kSpread)) continue;
    const Ranked entry{site.next.key, number};
    if (count > kFew) {
      // Most of many are turned away by their key once some were found to be among the last.
      if (entry.key > worst) continue;
      ranked.push_back(entry);
      if (ranked.size() == kGathered * count) {
        const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(count);
        std::nth_element(ranked.begin(), end, ranked.end(), before);
        worst = end->key;
        ranked.erase(end, ranked.end());
      }
      continue;
    }
    // Few are wanted: most sites are compared once, with the last of them.
    if (ranked.size() == count) {
      if (!before(entry, ranked.back())) continue;
      ranked.pop_back();
    }
    ranked.push_back(entry);
    for (size_t i = ranked.size() - 1; i > 0 && before(ranked[i], ranked[i - 1]); --i) {
      std::swap(ranked[i], ranked[i - 1]);
    }
  }
  if (count > kFew) {
    const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(count, ranked.size()));
    if (end != ranked.end()) std::nth_element(ranked.begin(), end, ranked.end(), before);
    std::sort(ranked.begin(), end, before);
    ranked.erase(end, ranked.end());
  }
  order_.clear();
  for (const Ranked& entry : ranked) {
    order_.push_back(entry.site);
    context.state.callUp(sites[entry.site].server);
  }
  return order_;
}

}  // namespace tarcil
