// Slots for jobs of high priority, at the cost of preemptible tasks of lower priority.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// To be called when the job was tried and got nothing. Where a server would be acceptable for it without some
// preemptible tasks of lower priority, these victims are ended: for each task that could be placed those of
// the server, of the ones examined, with the fewest victims, of the lowest priority, the youngest first; for
// a gang for all of its tasks or none, free slots counted. Victims are queued again in their old positions,
// and their jobs say why; the attempt does not count. With one task of a gang all of that gang are ended.
//
// The servers are reserved until all victims have ended and the job was tried then: otherwise whatever takes
// the units of the first victim meanwhile would have to be ended as well, and so on. Jobs that come before it
// in the queue may use them all the same.
//
// Does nothing where a server is acceptable as it is or the job's account holds the units that it may, and no
// more than once a second for a job that finds no victims, or that did not start when its victims had ended:
// then the interval doubles each time. Examines the servers of at most kMaxVictimsLookedAt tasks, and for
// gangs some that have free units.
void preemptFor(EventContext& context, Job& job);

// Releases servers whose reservation has ended, and wakes the queue where victims may be sought again. To be
// called before offers are made.
void updatePreemptions(EventContext& context);

inline constexpr size_t kMaxVictimsLookedAt = 256;

}  // namespace tarcil::master
