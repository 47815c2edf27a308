#include "agent/logic/attachment.h"

#include <set>

#include "agent/logic/assignments.h"
#include "agent/logic/state_feed.h"
#include "agent/logic/submissions.h"

namespace tarcil::agent {
namespace {

// Durable jobs become those that the master lists.
void replaceJobs(EventContext& context, const std::vector<JobAssignment>& assignments) {
  std::set<JobId> listed;
  for (const JobAssignment& assignment : assignments) listed.insert(assignment.job.id);
  std::vector<JobId> gone;
  for (auto& [id, job] : context.tables.jobs) {
    job.pendingReason.reset();
    job.reportedKind.clear();  // the commit that reported it may be void
    job.isOffered = false;     // offers end with the attachment
    if (job.durable && !listed.contains(id)) gone.push_back(id);
  }
  for (const JobId& id : gone) forget(context.tables, id);
  for (const JobAssignment& assignment : assignments) takeAssignment(context, assignment);
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
  tables.attached = true;
  tables.queueTold = {.capacityVersion = tables.queueTold.capacityVersion};
  dropCopy(tables);
  if (!resumed) tables.inFlight.restart();
  replaceJobs(context, event.jobs);
  if (!resumed) submitUnlisted(context);
  for (Commit& commit : tables.inFlight.all()) context.actions.push_back(SendCommit{std::move(commit)});
}

void detach(EventContext& context) {
  context.tables.attached = context.tables.hasSnapshot = false;
  restartUploads(context);
}

}  // namespace tarcil::agent
