#include "master/logic/jobs/job_numbers.h"

#include <algorithm>

namespace tarcil::master {
namespace {

void keepAll(EventContext& context) {
  Tables& tables = context.tables;
  tables.cluster.nextJob = tables.nextJob;
  context.out.put(tables.cluster);
}

}  // namespace

JobNumber newJobNumber(EventContext& context) {
  return context.tables.nextJob++;
}

void leaseNumbers(EventContext& context, const NumbersAsked& event) {
  Tables& tables = context.tables;
  if (tables.agents.attached(event.session) == nullptr) {
    context.out.send(AnswerNumbers{
        event.request,
        Error{ErrorCode::kConflict, "this connection does not speak for an agent any more: attach again"}});
    return;
  }
  const JobNumber first = tables.nextJob;
  tables.nextJob += std::clamp(event.count, 1u, kMaxNumbersLeased);
  keepAll(context);
  context.out.send(AnswerNumbers{event.request, first});
}

void keepNumber(EventContext& context, JobNumber number) {
  if (number >= context.tables.cluster.nextJob) keepAll(context);
}

void numberJobs(EventContext& context) {
  Tables& tables = context.tables;
  tables.nextJob = std::max(tables.nextJob, tables.jobs.highestNumber() + 1);
  for (const auto& [submitted, id] : tables.jobs.byAge()) {
    Job& job = *tables.jobs.find(id);
    if (job.record.number > 0) continue;
    tables.jobs.setNumber(job, newJobNumber(context));
    context.out.put(job.record);
  }
}

}  // namespace tarcil::master
