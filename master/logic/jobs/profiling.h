// Applications without a stored profile, which a job of their own measures: the agent that takes a job of
// such an application submits that job too, and the master takes one of them.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

// Why this new job may not measure its application (JobSpec::measures), for people; empty where it may, and
// for a job that measures none. It may where the operator wants that, no profile is stored, no other job
// measures the application, and none has failed to within kProfilingInterval.
std::string whyNotMeasure(const EventContext& context, const JobRecord& record);

// The job is taken: its application is being measured from now on. Does nothing for a job that measures none.
void beginProfiling(EventContext& context, const JobRecord& record);

// The job is over: stores what it measured, in the name of its user, or why it failed to. A profile that was
// stored meanwhile stays. Requires: `state` is final, `changes` are of the event that ended it. Does nothing
// for a job that measures none.
void endProfiling(EventContext& context, const Job& job, RunState state);

// Forgets that measuring the application failed, so that it can be measured again; false where it had
// not failed.
bool forgetFailedProfiling(EventContext& context, const std::string& application);

// Long enough that a command that always fails costs little, short enough to get over a passing fault.
inline constexpr Duration kProfilingInterval = std::chrono::hours(1);
inline constexpr size_t kMaxProblemBytes = 256;

}  // namespace tarcil::master
