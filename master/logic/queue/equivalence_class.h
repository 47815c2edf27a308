// Which waiting jobs are after the same slots.
#pragma once

#include "core/state/job_state.h"
#include "master/logic/queue/waiting_order.h"

namespace tarcil::master {

// Jobs of one kind find the same slots acceptable: their tasks are judged by the same profile, size, quality
// and placement, and gangs are of one size. Their timeouts are alike, so that where room is kept for a job
// the same of it is open to them (reservation.h). Tasks that are spread make a kind of their own for each
// job, since slots also depend on where its tasks sit already. Two kinds have one number by chance of 2^-64
// only.
EquivalenceClass equivalenceClassOf(const JobRecord& record);

// Of a gang of which some tasks run: it waits for fewer slots than the others of its kind.
EquivalenceClass ownEquivalenceClass(const JobRecord& record);

}  // namespace tarcil::master
