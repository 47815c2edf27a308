#include "agent/logic/submissions.h"

#include "agent/logic/assignments.h"
#include "agent/logic/commits.h"
#include "agent/logic/offers.h"
#include "core/model/job_check.h"
#include "core/model/job_size.h"
#include "core/state/run_as.h"

namespace tarcil::agent {
namespace {

// Submissions admitted per event; each costs a decision.
constexpr size_t kAdmittedPerEvent = 64;

Error exhausted(std::string message) {
  return {ErrorCode::kExhausted, std::move(message)};
}

// Its client's, who submits it once more.
Status sameUser(const JobRecord& held, const JobRecord& record) {
  if (held.user == record.user) return {};
  return denied("job: another user's job has this id; make a new one");
}

void addClients(std::vector<RequestId>& clients, const Arrival& arrival) {
  clients.insert(clients.end(), arrival.clients.begin(), arrival.clients.end());
}

void admit(EventContext& context, Arrival arrival) {
  Tables& tables = context.tables;
  const JobRecord& record = arrival.record;
  if (Job* held = tables.jobs.find(record.id)) {
    const Status same = sameUser(held->held.record(), record);
    if (!same || held->durable) return answer(context, arrival.clients, same);
    return addClients(held->clients, arrival);
  }
  if (Arrival* sending = tables.uploads.find(record.id)) {
    const Status same = sameUser(sending->record, record);
    if (!same) return answer(context, arrival.clients, same);
    return addClients(sending->clients, arrival);
  }
  // The master has reported the job's end and not yet answered a commit for it: the job is durable.
  if (tables.inFlight.has(record.id)) return answer(context, arrival.clients, {});
  if (!arrival.admitted) {
    const Status status = admissible(tables, record.spec, record.user);
    if (!status) return answer(context, arrival.clients, status);
  }
  if (record.filePieces > 0 && !arrival.filesAreThere) return tables.uploads.add(std::move(arrival));
  Job& job = tables.jobs.add(HeldJob::submitted(std::move(arrival.record)));
  job.files = std::move(arrival.files);
  job.clients = std::move(arrival.clients);
  const bool isUntried = isBehindOthers(tables, job.spec()) || job.spec().hold;
  isUntried ? submitUntried(context, job) : plan(context, job);
}

}  // namespace

void takeSubmission(EventContext& context, const SubmitArrived& event) {
  Tables& tables = context.tables;
  Result<std::string> runAs = accept(tables, event.caller, event.spec, event.files);
  if (!runAs) return answer(context, {event.request}, runAs.error());
  if (isReady(tables)) {
    tables.utilisation.arrival(tables.copy.state().all().usedUnits(), tables.queueTold.waiting > 0);
  }
  JobRecord record{.id = event.job,
                   .spec = event.spec,
                   .user = event.caller.user,
                   .runAs = *runAs,
                   .hasFiles = !event.files.empty(),
                   .submitted = context.now.wall,
                   .fileBytes = sizeOf(event.files)};
  if (event.files.size() > 1) record.filePieces = static_cast<uint32_t>(event.files.size());
  tables.arrivals.push_back({.clients = {event.request},
                             .record = std::move(record),
                             .files = event.files,
                             .deadline = context.now.steady + tables.options.masterPatience});
}

Result<std::string> accept(const Tables& tables, const Caller& caller, const JobSpec& spec,
                           const FilePieces& files) {
  if (caller.role != Role::kSubmit && caller.role != Role::kOperate) {
    return denied("a token of role " + std::string(name(caller.role)) + " does not allow submitting jobs");
  }
  if (spec.policy == Policy::kLateBinding) {
    return invalid(
        "policy: late-bound jobs are not committed in advance and cannot be planned; submit them with"
        " `tarcil submit` or the client library, or write policy: quality");
  }
  if (Status status = checkJob(spec, !files.empty()); !status) return status.error();
  for (const auto& piece : files) {
    if (Status status = checkFiles(*piece); !status) return status.error();
  }
  Result<std::string> runAs = runAsFor(spec, caller);
  if (runAs && tables.arrivals.size() + tables.uploads.size() >= tables.options.maxWaitingJobs) {
    return exhausted(std::string("too many submissions wait for the master; ") + kTryAgain);
  }
  return runAs;
}

Status admissible(const Tables& tables, const JobSpec& spec, const std::string& user) {
  if (Status status = everFeasible(tables.copy.state(), spec); !status) return status;
  const uint32_t waiting = tables.jobs.queuedOf(user);
  if (waiting < tables.options.maxWaitingJobs) return {};
  return exhausted(std::to_string(waiting) + " jobs of " + user +
                   " wait already, the most that this agent keeps; " + kTryAgain + ", or at another agent");
}

void admitArrivals(EventContext& context) {
  std::deque<Arrival>& arrivals = context.tables.arrivals;
  for (size_t count = 0; count < kAdmittedPerEvent && !arrivals.empty(); ++count) {
    Arrival arrival = std::move(arrivals.front());
    arrivals.pop_front();
    admit(context, std::move(arrival));
  }
}

void submitAgain(EventContext& context, const JobId& id) {
  Tables& tables = context.tables;
  Job& job = *tables.jobs.find(id);
  tables.arrivals.push_back({.clients = std::move(job.clients),
                             .record = job.held.record(),
                             .files = std::move(job.files),
                             .deadline = context.now.steady + tables.options.masterPatience,
                             .admitted = true});
  forget(tables, id);
}

void sendPieces(EventContext& context) {
  if (auto piece = context.tables.uploads.next()) context.actions.push_back(std::move(*piece));
}

void takePieceAnswer(EventContext& context, const PieceAnswered& event) {
  Uploads& uploads = context.tables.uploads;
  const bool goesOn = event.isThere.ok() && !*event.isThere;
  std::optional<Arrival> arrival = goesOn ? uploads.stored(event.upload) : uploads.end(event.upload);
  if (!arrival) return;
  if (!event.isThere.ok()) {
    Error error = event.isThere.error();
    // Another agent has the job, or this connection is of no use: the client may find the job, or try again.
    if (error.code == ErrorCode::kConflict) error.code = ErrorCode::kUnavailable;
    return answer(context, arrival->clients, std::move(error));
  }
  arrival->admitted = arrival->filesAreThere = true;
  arrival->deadline = context.now.steady + context.tables.options.masterPatience;
  context.tables.arrivals.push_back(std::move(*arrival));
}

void expireArrivals(EventContext& context) {
  std::deque<Arrival>& arrivals = context.tables.arrivals;
  while (!arrivals.empty() && arrivals.front().deadline <= context.now.steady) {
    answer(context, arrivals.front().clients,
           Error{ErrorCode::kUnavailable, "the master is out of reach; try again"});
    arrivals.pop_front();
  }
  std::optional<MonotonicTime>& unansweredUntil = context.tables.unansweredUntil;
  if (!unansweredUntil || *unansweredUntil > context.now.steady) return;
  unansweredUntil.reset();
  for (auto& [id, job] : context.tables.jobs) {
    answer(context, job.clients,
           Error{ErrorCode::kUnavailable,
                 "the master is out of reach, and has not said whether it has the job"});
    job.clients.clear();
  }
}

void answer(EventContext& context, const std::vector<RequestId>& clients, const Status& status) {
  for (RequestId request : clients) {
    context.actions.push_back(AnswerSubmit{.request = request, .status = status});
  }
}

void acknowledge(EventContext& context, Job& job) {
  job.durable = true;
  job.files.clear();
  answer(context, job.clients, {});
  job.clients.clear();
}

}  // namespace tarcil::agent
