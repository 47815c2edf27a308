// The end of every event: updates the jobs that it touched, stores what changed, tells agents and monitors.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// To be called once, when the event's own work is done. Closes the outbox.
void flush(EventContext& context);

// Every unfinished task of the job.
JobAssignment wholeAssignment(const Tables& tables, const Job& job);

}  // namespace tarcil::master
