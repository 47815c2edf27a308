// Packing: slots judged together with the others of their server or rack (Tarcil section 3.3, Fig. 5b).
#pragma once

#include "core/decide/assignment.h"
#include "core/decide/slot_search.h"
#include "core/decide/spread_count.h"
#include "core/model/job.h"

namespace tarcil {

// Assigns the tasks group by group. Each site that was found stands for its server or its rack, which is
// judged by all the tasks that it could take together: the one that takes most of the job goes first, then
// the one with the highest mean E, in bands, then mean Q. For racks, some servers that were not drawn are
// examined as well. O(groups * (sites + tasks) log sites) for each group that gets tasks. Requires: pack is
// not kNone.
void assignPacked(Pack pack, SlotSearch& search, const SpreadCount& placed, Assignment& assignment);

}  // namespace tarcil
