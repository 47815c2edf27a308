// The times of crons as they come, and the jobs that are made for them. A job has its id of its cron and its
// time, and is stored in one batch with what its cron notes of it: whatever kills the master, no time has
// two.
#pragma once

#include <string>

#include "core/base/result.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// Between two tries to make a job that cannot be made now.
inline constexpr Duration kCronRetryInterval = std::chrono::seconds(10);

// At the master's start: crons go on.
void resumeCrons(EventContext& context);

// Of crons whose time has come, or whose job could not be made before; a bounded number, the others follow
// with the timer. Of several times that have come since the last look only the latest is taken up, and that
// only if its deadline has not passed; what becomes of the others is noted.
void takeUpDueTimes(EventContext& context);

// The job has ended; its cron, if it was made for one, may make the next.
void noteEndOfCronJob(EventContext& context, const Job& job, RunState state);

// Looks at the crons again whose jobs have ended.
void goOnWithCrons(EventContext& context);

// The unfinished job of the cron that was made last; null where all have ended.
Job* unfinishedJobOf(EventContext& context, const Cron& cron);

// Makes a job of the cron now, by hand. Unavailable where no agent is attached, Exhausted where no job is
// taken. Requires: no job has this id.
Status makeJobByHand(EventContext& context, LiveCron& live, const JobId& id);

// No job is made for the time that is pending; this is why. Requires: there is one. The record is stored.
void giveUpPending(EventContext& context, LiveCron& live, const std::string& reason);

}  // namespace tarcil::master
