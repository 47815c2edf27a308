#include "agent/late/late_session.h"

#include <kj/debug.h>
#include <spdlog/spdlog.h>

#include "agent/late/late_binding.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// The client's number for the job, what to do, and which of its tasks.
LateSubmission readSubmission(wire::LateJob::Reader from) {
  LateSubmission job;
  job.number = from.getNumber();
  job.id = readJobId(from.getId());
  job.spec = read(from.getSpec());
  job.tasks = convert::readNumbers<uint32_t>(from.getTasks());
  if (from.getProbeRatio() != 0) job.probeRatio = from.getProbeRatio();
  job.executor = convert::readTexts(from.getExecutor());
  for (auto description : from.getDescriptions()) {
    job.descriptions.emplace_back(description.asChars().begin(), description.size());
  }
  job.detached = from.getDetached();
  return job;
}

}  // namespace

LateSession::~LateSession() noexcept(false) {
  if (agent_ != nullptr) agent_->sessionEnded(*this);
}

kj::Promise<void> LateSession::submit(SubmitContext context) {
  KJ_REQUIRE(agent_ != nullptr, "the agent is going down");
  std::vector<LateSubmission> jobs;
  for (auto from : convert::elements(context.getParams().getJobs())) jobs.push_back(readSubmission(from));
  auto grants = agent_->grantsFor(caller_, jobs);
  return inTurn(kj::mv(grants),
                [this, context, jobs = std::move(jobs)]() mutable { take(std::move(jobs), context); });
}

void LateSession::take(std::vector<LateSubmission> jobs, SubmitContext context) {
  struct Refusal {
    uint64_t job;
    Error error;
  };
  std::vector<Refusal> refusals;
  KJ_REQUIRE(agent_ != nullptr, "the agent is going down");
  if (isDeaf_)
    kj::throwFatalException(toException({ErrorCode::kUnavailable, "the session is over: open another one"}));
  for (LateSubmission& job : jobs) {
    const uint64_t number = job.number;
    if (const Status taken = agent_->submit(*this, std::move(job)); !taken)
      refusals.push_back({number, taken.error()});
  }
  auto refused = context.getResults().initRefused(static_cast<uint32_t>(refusals.size()));
  for (uint32_t i = 0; i < refusals.size(); ++i) {
    refused[i].setJob(refusals[i].job);
    refused[i].setCode(static_cast<uint8_t>(refusals[i].error.code));
    refused[i].setProblem(convert::text(refusals[i].error.message));
  }
}

kj::Promise<void> LateSession::cancel(CancelContext context) {
  return inTurn(nullptr, [this, jobs = convert::readNumbers<uint64_t>(context.getParams().getJobs())]() {
    cancel(jobs);
  });
}

void LateSession::cancel(const std::vector<uint64_t>& jobs) {
  KJ_REQUIRE(agent_ != nullptr, "the agent is going down");
  for (const uint64_t job : jobs) agent_->cancel(*this, job);
}

kj::Promise<void> LateSession::inTurn(kj::Maybe<kj::Promise<void>> first, kj::Function<void()> act) {
  if (first == nullptr && waiting_ == 0) {
    act();
    return kj::READY_NOW;
  }
  ++waiting_;
  auto done = last_.addBranch()
                  .then([first = kj::mv(first)]() mutable -> kj::Promise<void> {
                    KJ_IF_MAYBE (promise, first) return kj::mv(*promise);
                    return kj::READY_NOW;
                  })
                  .then([this, act = kj::mv(act)]() mutable {
                    --waiting_;
                    act();
                  })
                  .fork();
  // What one call fails with is its own.
  last_ = done.addBranch().catch_([](kj::Exception&&) {}).fork();
  return done.addBranch();
}

void LateSession::over(uint64_t number, TaskIndex task, const late::TaskOver& over, std::string server) {
  if (isDeaf_) return;
  pending_.push_back({number, task, over, std::move(server)});
  if (pending_.size() > mostUntold_) end("it does not take its results");
}

void LateSession::flush() {
  if (pending_.empty() || isCalling_ || isDeaf_) return;
  auto request = client_.overRequest();
  auto tasks = request.initTasks(static_cast<uint32_t>(pending_.size()));
  for (uint32_t i = 0; i < pending_.size(); ++i) {
    write(pending_[i].over, pending_[i].task, pending_[i].server, tasks[i]);
    tasks[i].setJob(pending_[i].number);
  }
  pending_.clear();
  isCalling_ = true;
  calls_.add(request.send().then([this](auto&&) {
    isCalling_ = false;
    flush();
  }));
}

void LateSession::taskFailed(kj::Exception&& exception) {
  end(kj::str(exception).cStr());
}

// It may still call, and is told that it is not heard any more.
void LateSession::end(const char* why) {
  spdlog::info("late binding: a session of {} ends: {}", caller_.user, why);
  isDeaf_ = true;
  pending_ = {};
}

void write(const late::TaskOver& over, TaskIndex task, const std::string& server,
           wire::LateTaskOver::Builder to) {
  to.setTask(task);
  to.setOutcome(convert::toWireEnum<wire::LateOutcome>(over.outcome));
  to.setCode(over.code);
  to.setAttempts(over.attempts);
  to.setServer(convert::text(server));
  if (over.lease == 0) return;
  auto phases = to.initPhases();
  to.setLease(over.lease);
  phases.setReserve(static_cast<uint64_t>(over.phases.reserve.count()));
  phases.setQueue(static_cast<uint64_t>(over.phases.queue.count()));
  phases.setGetTask(static_cast<uint64_t>(over.phases.getTask.count()));
  phases.setService(static_cast<uint64_t>(over.phases.service.count()));
}

}  // namespace tarcil
