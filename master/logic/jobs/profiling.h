// Applications that a job of their own measures, since nobody has stored a profile of them:
// whoever submits a job of such an application submits that job too, and of all that come the master takes
// one.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

// Why this new job may not measure its application (JobSpec::measures), for people; empty where it may, and
// for a job that measures none. It may where the operator wants it, no profile is stored, no other job
// measures the application, and none has in vain within kProfilingInterval.
std::string whyNotMeasure(const EventContext& context, const JobRecord& record);

// The job is taken: its application is being measured from now on. Nothing for a job that measures none.
void beginProfiling(EventContext& context, const JobRecord& record);

// The job is over: stores what it measured, in the name of its user, or why it did not. A profile that was
// stored meanwhile stays. Requires: its state is final, `changes` are of the event that ended it. Nothing for
// a job that measures none.
void endProfiling(EventContext& context, const Job& job, RunState state);

// Forgets that the application was measured in vain, so that it can be again; whether it was.
bool forgetFailedProfiling(EventContext& context, const std::string& application);

// Long enough for a command that fails to cost little, short enough for a passing fault.
inline constexpr Duration kProfilingInterval = std::chrono::hours(1);
inline constexpr size_t kMaxProblemBytes = 256;

}  // namespace tarcil::master
