// What the master says of jobs and their tasks, and the launches that follow.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// News of a job: tasks listed are as they are there. A job that is not known here comes to be, unless it is
// over.
void takeAssignment(EventContext& context, const JobAssignment& assignment);

// Sends the launch of a task that has got its allocation. A monitor may lose a launch that it accepted, with
// its machine: where the master still counts the task as starting, the launch is sent again. One that was not
// lost is not started twice. Requires: the job holds the task, starting.
void launch(EventContext& context, const Job& job, TaskIndex index);

// The job is over, or another agent's: it leaves the table, and none of its tasks is launched any more.
// Requires: it is in the table.
void forget(Tables& tables, const JobId& id);

}  // namespace tarcil::agent
