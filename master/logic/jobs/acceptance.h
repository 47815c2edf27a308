// Whether a new job is taken, and what the master does as it takes one: of an agent's commit, or made for a
// cron.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Why no new job is taken for want of space; empty where it is.
std::string whyNoNewJobs(const Tables& tables);

// Why no further unfinished job is taken of its user, or of anybody; empty where one is.
std::string tooMany(const Tables& tables, const JobRecord& record);

// Why a job of this size is never taken; empty where it may be.
std::string tooLarge(const MasterOptions& options, const JobRecord& record);

// Why no job of a user is taken whom the cluster does not know; empty where one is.
std::string tooManyUsers(const Tables& tables, const std::string& user);

// The job is there from now on, with a number, and this agent places it. Its input files are the caller's
// business. Requires: its id is new, and nothing of the above, of uploads.h and dependencies.h stands against
// it.
Job& acceptJob(EventContext& context, JobRecord record, Agent& owner);

}  // namespace tarcil::master
