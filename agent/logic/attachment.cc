#include "agent/logic/attachment.h"

#include <set>

#include "agent/logic/assignments.h"
#include "agent/logic/state_feed.h"

namespace tarcil::agent {
namespace {

// The master's list of jobs takes the place of what was held of durable ones.
void replaceJobs(EventContext& context, const std::vector<JobAssignment>& assignments) {
  std::set<JobId> listed;
  for (const JobAssignment& assignment : assignments) listed.insert(assignment.job.id);
  std::vector<JobId> gone;
  for (auto& [id, job] : context.tables.jobs) {
    job.pendingReason.reset();
    job.reportedKind.clear();  // the commit that said it may have come to nothing
    job.isOffered = false;     // an offer ends with the attachment; the next one comes
    if (job.durable && !listed.contains(id)) gone.push_back(id);
  }
  for (const JobId& id : gone) forget(context.tables, id);
  for (const JobAssignment& assignment : assignments) takeAssignment(context, assignment);
}

// Jobs that the master does not know have lost their commits, or these came to be known and another agent has
// the job by now: they are submitted again, whatever servers are up.
void submitUnknownAnew(EventContext& context) {
  Tables& tables = context.tables;
  std::vector<JobId> unknown;
  for (const auto& [id, job] : tables.jobs) {
    if (!job.durable) unknown.push_back(id);
  }
  for (const JobId& id : unknown) {
    Job& job = *tables.jobs.find(id);
    tables.arrivals.push_back({.clients = std::move(job.clients),
                               .job = {.record = job.held.record(), .files = std::move(job.files)},
                               .deadline = context.now.steady + tables.options.masterPatience,
                               .admitted = true});
    forget(tables, id);
  }
}

}  // namespace

void attach(EventContext& context, const MasterAttached& event) {
  Tables& tables = context.tables;
  const bool resumed = event.epoch == tables.epoch && tables.epoch != 0;
  tables.epoch = event.epoch;
  tables.attached = true;
  tables.queueTold = {.capacityVersion = tables.queueTold.capacityVersion};
  startCopyAnew(tables);
  if (!resumed) tables.inFlight.restart();
  replaceJobs(context, event.jobs);
  if (!resumed) submitUnknownAnew(context);
  for (Commit& commit : tables.inFlight.all()) context.actions.push_back(SendCommit{std::move(commit)});
}

void lose(Tables& tables) {
  tables.attached = tables.hasSnapshot = false;
}

}  // namespace tarcil::agent
