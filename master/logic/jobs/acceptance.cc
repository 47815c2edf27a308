#include "master/logic/jobs/acceptance.h"

#include <algorithm>

#include "core/base/units.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/job_numbers.h"
#include "master/logic/jobs/profiling.h"
#include "master/logic/jobs/rejudging.h"
#include "master/logic/people/account_bounds.h"

namespace tarcil::master {
namespace {

// Whether the job may have been submitted before, to the master of which this store is an older backup: then
// copies of its tasks may still run.
bool mayHaveRun(const EventContext& context, const JobRecord& record) {
  const Tables& tables = context.tables;
  const bool wasRestored = tables.cluster.epoch > ClusterRecord{}.epoch;
  return record.spec.exclusive && wasRestored &&
         context.now.steady < tables.began.steady + tables.options.serverTimeout;
}

// Holds the job back for one server timeout from this master's start: by then no copy is left that an earlier
// master started.
void holdForServerTimeout(EventContext& context, Job& job) {
  const Duration timeout = context.tables.options.serverTimeout;
  job.notBefore = context.tables.began.steady + timeout;
  for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
    job.tasks[task].mayRunFor = timeout;
    context.tables.jobs.noteTask(job, task);
  }
}

}  // namespace

std::string tooMany(const Tables& tables, const JobRecord& record) {
  const MasterOptions& options = tables.options;
  const std::string& user = record.user;
  const size_t users = tables.jobs.unfinishedOf(user), all = tables.jobs.unfinished();
  if (users >= options.maxUnfinishedOfUser) {
    return user + " has " + std::to_string(users) +
           " unfinished jobs, as many as one user may (the master's --max-jobs-of-user); " + kTryAgain;
  }
  if (all >= options.maxUnfinished) {
    return "the cluster has " + std::to_string(all) +
           " unfinished jobs, as many as it takes (the master's --max-jobs); " + kTryAgain;
  }
  const size_t bytes = bytesOf(record);
  if (tables.jobs.unfinishedBytesOf(user) + bytes > options.maxUnfinishedBytesOfUser) {
    return "with this job, of " + formatSize(bytes) + ", the unfinished jobs of " + user +
           " would take more than " + formatSize(options.maxUnfinishedBytesOfUser) +
           " of the master's memory (its --max-jobs-size-of-user); " + kTryAgain;
  }
  if (tables.jobs.unfinishedBytes() + bytes > options.maxUnfinishedBytes) {
    return "with this job, of " + formatSize(bytes) + ", unfinished jobs would take more than " +
           formatSize(options.maxUnfinishedBytes) + " of the master's memory (its --max-jobs-size); " +
           kTryAgain;
  }
  return {};
}

std::string spaceProblem(const Tables& tables) {
  if (tables.freeBytes >= tables.options.diskReserve) return "";
  return "disk nearly full: the master's store has " + std::to_string(tables.freeBytes >> 20) +
         " MiB left, and " + std::to_string(tables.options.diskReserve >> 20) +
         " MiB are kept for the jobs that there are";
}

std::string whyNoNewJobs(const Tables& tables) {
  std::string problem = spaceProblem(tables);
  if (!problem.empty()) problem += "; no new jobs are taken until there is room: try again later";
  return problem;
}

std::string tooLarge(const MasterOptions& options, const JobRecord& record) {
  if (record.spec.tasks > options.maxTasksOfJob) {
    return "tasks: is " + std::to_string(record.spec.tasks) + ", and this cluster takes at most " +
           std::to_string(options.maxTasksOfJob) +
           " in one job (the master's --max-tasks-of-job); write fewer, or submit several jobs";
  }
  const size_t bytes = bytesOf(record);
  const uint64_t most = std::min(options.maxUnfinishedBytesOfUser, options.maxUnfinishedBytes);
  if (bytes <= most) return {};
  return "this job would take " + formatSize(bytes) +
         " of the master's memory, and the unfinished jobs of a user " + "may take " + formatSize(most) +
         " together; write fewer tasks, or a smaller command and environment";
}

std::string tooManyUsers(const Tables& tables, const std::string& user) {
  if (tables.usage.takes(user)) return {};
  return "the cluster has had jobs of " + std::to_string(kMaxUsers) + " users, as many as it takes, and " +
         user + " is none of them; submit as one that is";
}

Job& acceptJob(EventContext& context, JobRecord record, Agent& owner) {
  record.number = newJobNumber(context);
  placeInAccount(context.tables, record.user);
  Job& job = context.tables.jobs.add(record, owner.record.name, queueTime(context));
  owner.jobs.insert(record.id);
  context.out.put(job.record);
  awaitOthers(context, job);
  beginProfiling(context, job.record);
  noteFollower(context, job);
  if (mayHaveRun(context, job.record)) holdForServerTimeout(context, job);
  return job;
}

}  // namespace tarcil::master
