// What can happen to one task: it is placed, starts, ends, is stopped. Each function keeps tables, counts and
// units consistent and notes what is to be stored and sent, which flush() (flush.h) does.
#pragma once

#include <string>

#include "core/state/claim.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// queued -> starting. The units of the grant are taken already. Requires: the task is queued.
void placeTask(EventContext& context, Job& job, const Claim& claim, const Grant& grant, uint32_t decision);

// starting -> running; does nothing where it runs already. Requires: `hold` is of an allocation in use.
void startTask(EventContext& context, const Hold& hold, WallTime started);

// The attempt is over: its units are freed, and the task is queued again or final. A task that succeeded is
// done even if its job was cancelled; any other task of a cancelled job is cancelled; a lost one is queued
// again where restart.on_lost says so; one that was stopped to go elsewhere is queued again in any case; a
// failed one as often as restart.attempts says. Counted as usage of the job's user. Requires: `hold` is of an
// allocation in use; it is not afterwards. `mayRunFor`: how long a copy may still run; a task of an exclusive
// job is not placed again before.
void endTask(EventContext& context, const Hold& hold, const TaskEnd& end, Duration mayRunFor = {});

// As endTask(), for a task that holds no units.
void concludeAttempt(EventContext& context, Job& job, TaskIndex task, const TaskEnd& end,
                     Duration mayRunFor = {});

// Asks the monitor to end the task, now or when it attaches, so that it goes elsewhere: the attempt does not
// count. `why` is for people. A repeated call asks again.
void moveTask(EventContext& context, const Hold& hold, const std::string& why);

// Ends every task of the server as lost, for this reason.
void loseTasks(EventContext& context, Server& server, const std::string& reason);

// Queued tasks are cancelled at once; the monitors of the others are asked to stop them, now or when they
// attach. Requires: the job is not finished. O(tasks). A repeated call asks the monitors again.
void cancelJob(EventContext& context, Job& job, const std::string& reason);

// How long a task that is queued again must wait: backoff * 2^(failures - 1), at most 64 times the
// backoff; of an exclusive job no less than the last attempt may still run. Counted from when the agent
// hears of it: after a restart of the master or a change of owner nobody knows how much of it has passed,
// so it starts again.
Duration restartDelay(const JobSpec& spec, const TaskRecord& task);

// "exited with code 1", and the like.
std::string describe(const TaskEnd& end);

// The task's attempt has ended as `task.end` says, and another one follows.
void beginNextAttempt(TaskRecord& task);

}  // namespace tarcil::master
