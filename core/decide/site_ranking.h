// The best of the sites that a decision examined.
#pragma once

#include <cstdint>
#include <vector>

#include "core/decide/sites.h"

namespace tarcil {

// Reuses its memory between decisions.
class SiteRanking {
 public:
  // The numbers of the best `count` sites, the best first: those that may be taken come before all others,
  // and those closed by placement.spread are left out. The caller may change the list, which is valid until
  // the next call. O(sites + count log count).
  std::vector<uint32_t>& best(Sites& sites, const SearchContext& context, size_t count);

 private:
  // A site on its way to its rank; most comparisons need no look at the site.
  struct Ranked {
    uint64_t key;
    uint32_t site;
  };

  std::vector<Ranked> ranked_;
  std::vector<uint32_t> order_;
};

}  // namespace tarcil
