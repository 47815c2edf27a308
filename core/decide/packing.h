// Packing: slots judged together with their neighbours (Tarcil section 3.3, Fig. 5b).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/decide/sites.h"

namespace tarcil {

// Slots of one server or one rack that a job could take together, each judged with those before it in place.
struct Group {
  std::vector<uint32_t> slots;  // sites, by number, in the order of taking; a site once for each slot
  double performance = 0;       // mean E of the slots
  double q = 0;                 // mean Q
  uint64_t chance = 0;

  // The group that takes more of the job first; then mean E in bands, mean Q, chance.
  bool ranksBefore(const Group& other) const;
};

// The best `wanted` slots of these sites together, or as many as may be taken: at most room(server) more of a
// server. Takes site.picked slots of each as gone. O((sites + wanted) log sites).
Group bestGroup(Sites& sites, std::span<const uint32_t> members, size_t wanted,
                const std::function<uint32_t(ServerId)>& room);

}  // namespace tarcil
