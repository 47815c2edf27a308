// What queries show of the tables.
#pragma once

#include "master/logic/master_logic.h"
#include "master/logic/tables.h"

namespace tarcil::master {

JobDetails detailsOf(const Tables& tables, const Job& job);
JobSummary summaryOf(const Job& job);
// Jobs that the caller may steer and the query lets through.
JobPage pageOf(const JobTable& jobs, const Caller& caller, const JobQuery& query);
// The first of the queue.
std::vector<WaitingJob> waitingJobs(const JobTable& jobs, size_t atMost, WallTime now);
// Requires: it waits. O(jobs ahead); nothing of them is copied but their places.
WaitingJob waitingJob(const JobTable& jobs, const Job& job, WallTime now);
// At most two; O(jobs with the prefix).
std::vector<JobId> idsWithPrefix(const Tables& tables, const std::string& prefix, const Caller& caller);
ServerView viewOf(const Tables& tables, const Server& server);

}  // namespace tarcil::master
