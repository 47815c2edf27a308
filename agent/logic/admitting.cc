// Submissions: what is checked at once, what waits for the master, what is refused.
#include <algorithm>

#include "agent/logic/agent_state.h"
#include "agent/logic/submission.h"
#include "core/model/job_check.h"

namespace tarcil {

using namespace agent;

namespace {

// Submissions looked at per event; each costs a decision.
constexpr size_t kAdmittedPerEvent = 64;

Error exhausted(std::string message) {
  return {ErrorCode::kExhausted, std::move(message)};
}

}  // namespace

void AgentLogic::State::on(const SubmitArrived& event, EventContext& context) {
  static const std::vector<InputFile> kNone;
  Result<std::string> runAs = accept(event.caller, event.spec, event.files ? *event.files : kNone);
  if (!runAs) return answer({event.request}, runAs.error(), context);
  JobRecord record{.id = event.job,
                   .spec = event.spec,
                   .user = event.caller.user,
                   .runAs = *runAs,
                   .hasFiles = event.files && !event.files->empty(),
                   .submitted = context.wall};
  arrivals.push_back({.clients = {event.request},
                      .job = {.record = std::move(record), .files = event.files},
                      .deadline = context.now + options.masterPatience});
}

Result<std::string> AgentLogic::State::accept(const Caller& caller, const JobSpec& spec,
                                              const std::vector<InputFile>& files) const {
  if (caller.role != Role::kSubmit && caller.role != Role::kOperate) {
    return denied("a token of role " + std::string(name(caller.role)) + " does not allow submitting jobs");
  }
  if (spec.policy == Policy::kLateBinding) {
    return invalid(
        "policy: late-bound jobs are not committed, and nothing is foreseen of them; hand them in by"
        " `tarcil submit` or the client library, or write policy: quality");
  }
  if (Status status = checkJob(spec, files); !status) return status.error();
  Result<std::string> runAs = runAsFor(spec, caller);
  if (runAs && arrivals.size() >= options.maxWaitingJobs) {
    return exhausted(std::string("too many submissions wait for the master; ") + kTryAgain);
  }
  return runAs;
}

void AgentLogic::State::answer(const std::vector<RequestId>& clients, const Status& status,
                               EventContext& context) {
  for (RequestId request : clients)
    context.actions.push_back(AnswerSubmit{.request = request, .status = status});
}

void AgentLogic::State::admitArrivals(EventContext& context) {
  for (size_t count = 0; count < kAdmittedPerEvent && !arrivals.empty(); ++count) {
    Arrival arrival = std::move(arrivals.front());
    arrivals.pop_front();
    admit(std::move(arrival), context);
  }
}

void AgentLogic::State::expireArrivals(EventContext& context) {
  while (!arrivals.empty() && arrivals.front().deadline <= context.now) {
    answer(arrivals.front().clients, Error{ErrorCode::kUnavailable, "the master is out of reach; try again"},
           context);
    arrivals.pop_front();
  }
}

void AgentLogic::State::admit(Arrival arrival, EventContext& context) {
  const JobRecord& record = arrival.job.record;
  if (Job* held = find(record.id)) {
    if (held->held.record().user != record.user) {
      return answer(arrival.clients, denied("job: another user's job has this id; make a new one"), context);
    }
    if (held->durable) return answer(arrival.clients, {}, context);
    held->clients.insert(held->clients.end(), arrival.clients.begin(), arrival.clients.end());
    return;
  }
  // The master has said that the job is over, and still owes the answer to a commit for it: the job is
  // durable.
  if (inFlight.has(record.id)) return answer(arrival.clients, {}, context);
  if (!arrival.admitted) {
    if (Status status = admissible(record.spec, record.user); !status)
      return answer(arrival.clients, status, context);
  }
  JobId id = record.id;
  Job& job = jobs.emplace(id, HeldJob::submitted(std::move(arrival.job.record))).first->second;
  job.files = std::move(arrival.job.files);
  job.clients = std::move(arrival.clients);
  isBehindOthers(job.spec()) || job.spec().hold ? submitUntried(job, context) : plan(job, context);
}

Status AgentLogic::State::admissible(const JobSpec& spec, const std::string& user) const {
  if (Status status = everFeasible(copy.state(), spec); !status) return status;
  auto waits = waitingOfUser.find(user);
  if (waits == waitingOfUser.end() || waits->second < options.maxWaitingJobs) return {};
  return exhausted(std::to_string(waits->second) + " jobs of " + user +
                   " wait already, the most that this agent keeps; " + kTryAgain + ", or at another agent");
}

}  // namespace tarcil
