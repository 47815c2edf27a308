// Packing: slots judged together with the others of their server, rack or other domain (Tarcil section 3.3,
// Fig. 5b).
#pragma once

#include <string>

#include "core/decide/assignment.h"
#include "core/decide/slot_search.h"
#include "core/decide/spread_count.h"

namespace tarcil {

// Assigns the tasks group by group. Each site that was found stands for its domain, which is judged by all
// the tasks that it could take together: the one that takes most of the job goes first, then the one with the
// highest mean E, in bands, then mean Q. For racks, some servers that were not drawn are examined as well.
// O(groups * (sites + tasks) log sites) for each group that gets tasks. Requires: pack names an attribute.
void assignPacked(const std::string& pack, SlotSearch& search, const SpreadCount& placed,
                  Assignment& assignment);

}  // namespace tarcil
