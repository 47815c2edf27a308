// Which waiting jobs compete for the same slots.
#pragma once

#include "core/state/job_state.h"
#include "master/logic/queue/waiting_order.h"

namespace tarcil::master {

// Jobs of one class find the same slots acceptable: their tasks have the same profile, size, quality and
// placement, and gangs are of one size. Their timeouts are alike, so that the same of a reservation is open
// to them as backfill (reservation.h). A job whose tasks are spread is a class of its own, since its slots
// also depend on where its tasks run. Two classes have the same number by chance of 2^-64 only.
EquivalenceClass equivalenceClassOf(const JobRecord& record);

// Of a gang of which some tasks run: it waits for fewer slots than the others of its class.
EquivalenceClass ownEquivalenceClass(const JobRecord& record);

}  // namespace tarcil::master
