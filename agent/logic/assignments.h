// The master's news of jobs and their tasks, and the launches that follow.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Takes the master's state of a job and its listed tasks. Adds the job if it is new here and not over.
void takeAssignment(EventContext& context, const JobAssignment& assignment);

// Launches tasks that have an allocation. To be repeated whenever the master still reports a task as
// starting: a monitor may have lost an accepted launch with its machine, and a repeated one is not started
// twice. Those of a gang are told where its tasks are, and so wait for launchGangs() where the servers are
// not known. Requires: the job has the tasks, starting.
void launch(EventContext& context, const Job& job, const std::vector<TaskIndex>& tasks);

// All servers are known: launches the tasks of gangs that are starting.
void launchGangs(EventContext& context);

// The job is over or belongs to another agent: removes it and drops its launches. Requires: it is
// in the table.
void forget(Tables& tables, const JobId& id);

}  // namespace tarcil::agent
