#include "agent/logic/attachment.h"

#include <utility>

#include "agent/logic/assignments.h"
#include "agent/logic/state_feed.h"
#include "agent/logic/submissions.h"

namespace tarcil::agent {
namespace {

// Nothing that was said of a job on another attachment holds.
void beginList(Tables& tables) {
  for (auto& [id, job] : tables.jobs) {
    job.pendingReason.reset();
    job.reportedKind.clear();  // the commit that reported it may be void
    job.isOffered = false;     // offers end with the attachment
    job.isListed = false;
  }
}

// Durable jobs become those that the master lists.
void forgetUnlisted(Tables& tables) {
  std::vector<JobId> gone;
  for (const auto& [id, job] : tables.jobs) {
    if (job.durable && !job.isListed) gone.push_back(id);
  }
  for (const JobId& id : gone) forget(tables, id);
}

// A job that the master does not list has lost its commit, or the commit was taken and another agent owns the
// job by now: it is submitted again, without checking it against the servers that are up.
void submitUnlisted(EventContext& context) {
  Tables& tables = context.tables;
  std::vector<JobId> unlisted;
  for (const auto& [id, job] : tables.jobs) {
    if (!job.durable) unlisted.push_back(id);
  }
  for (const JobId& id : unlisted) submitAgain(context, id);
}

// Jobs that the master lists; with the last the agent begins to work.
void takeList(EventContext& context, const std::vector<JobAssignment>& jobs, bool more) {
  Tables& tables = context.tables;
  for (const JobAssignment& assignment : jobs) {
    takeAssignment(context, assignment);
    if (Job* job = tables.jobs.find(assignment.job.id)) job->isListed = true;
  }
  if (more) return;
  tables.attached = true;
  tables.unansweredUntil.reset();
  forgetUnlisted(tables);
  if (std::exchange(tables.submitsUnlisted, false)) submitUnlisted(context);
  for (Commit& commit : tables.inFlight.all()) context.actions.push_back(SendCommit{std::move(commit)});
}

// What the master has of files that no commit has named goes with the attachment.
void restartUploads(EventContext& context) {
  Tables& tables = context.tables;
  for (Arrival& arrival : tables.arrivals) arrival.filesAreThere = false;
  for (Arrival& arrival : tables.uploads.takeAll()) {
    arrival.deadline = context.now.steady + tables.options.masterPatience;
    tables.arrivals.push_back(std::move(arrival));
  }
}

}  // namespace

void attach(EventContext& context, const MasterAttached& event) {
  Tables& tables = context.tables;
  const bool resumed = event.epoch == tables.epoch && tables.epoch != 0;
  tables.epoch = event.epoch;
  tables.queueTold = {.capacityVersion = tables.queueTold.capacityVersion};
  dropCopy(tables);
  if (!resumed) {
    tables.inFlight.restart();
    tables.submitsUnlisted = true;
  }
  beginList(tables);
  takeList(context, event.jobs, event.more);
}

void takeJobs(EventContext& context, const JobsTold& event) {
  takeList(context, event.jobs, event.more);
}

void detach(EventContext& context) {
  Tables& tables = context.tables;
  tables.attached = tables.hasSnapshot = false;
  if (!tables.unansweredUntil) tables.unansweredUntil = context.now.steady + tables.options.masterPatience;
  restartUploads(context);
}

}  // namespace tarcil::agent
