// Room for jobs of high priority at the cost of tasks of lower priority that may be preempted.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// To be called when the job was tried and got nothing. Where a server would be acceptable for it without some
// preemptible tasks of lower priority, these are ended: of the servers looked at the one with the fewest of
// them, of the lowest priority, the youngest first, for each task that could be placed; of a gang for all of
// its tasks or none, free slots counted. They wait again, with their places kept, and are told why; the
// attempt does not count. With a task of a gang all of that gang are ended.
//
// The servers are kept until all of them have ended and the job was tried then: what takes the units of the
// first meanwhile would have to be ended as well, and so on for ever. Whatever comes before the job in the
// queue's order may take them all the same.
//
// Does nothing where a server is acceptable as it is, and no more than once a second for a job that it can do
// nothing for, or ended others for in vain: then it is longer each time. Looks at the servers of at most
// kMaxVictimsLookedAt tasks, and for gangs at some that have free units.
void preemptFor(EventContext& context, Job& job);

// Lets go of servers that are no longer to be kept, and wakes the queue where a job may be helped again. To
// be called before turns are given.
void updatePreemptions(EventContext& context);

inline constexpr size_t kMaxVictimsLookedAt = 256;

}  // namespace tarcil::master
