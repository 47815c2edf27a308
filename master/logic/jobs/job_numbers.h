// The numbers of jobs: in the order of acceptance, and none twice, whatever becomes of the jobs. What the
// store holds of them is the highest among its jobs, and one that none given out before has reached
// (ClusterRecord::nextJob), which is written as seldom as that allows.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// For a job that is accepted now, with its record.
JobNumber newJobNumber(EventContext& context);

// Numbers for an agent's late-bound jobs.
void leaseNumbers(EventContext& context, const NumbersAsked& event);

// To be called before the job with this number is erased.
void keepNumber(EventContext& context, JobNumber number);

// At a start: goes on behind the numbers that there are. Jobs that an earlier version accepted get theirs, in
// the order of their submission.
void numberJobs(EventContext& context);

}  // namespace tarcil::master
