#include "cli/late_foreground.h"

#include <signal.h>

#include <cstdio>

#include "cli/foreground_job.h"
#include "cli/output.h"
#include "env/clock.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr int kSignalCodes = 128;

void put(wire::Stream stream, std::string_view text) {
  if (stream == wire::Stream::STDOUT) {
    print(text);
    flushOutput();
  } else {
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

}  // namespace

LateForegroundJob::LateForegroundJob(Cluster& cluster, JobSpec spec)
    : cluster_(cluster),
      id_(makeJobId()),
      agents_(cluster),
      tasks_(spec.tasks),
      notOver_(spec.tasks),
      client_(cluster.net(), systemClock(), cluster.agents(), cluster.token(), {}, *this),
      spec_(std::move(spec)) {}

int LateForegroundJob::run() {
  requireCluster(cluster_);
  signals_ = watchSignals().eagerlyEvaluate(nullptr);
  LateClientJob job;
  job.id = id_;
  job.spec = spec_;
  job_ = client_.submit(std::move(job));
  auto copied = over_.promise.then([this]() { return kj::mv(copying_); });
  cluster_.wait(copied.exclusiveJoin(kj::mv(left_.promise)));
  return exitCode();
}

void LateForegroundJob::taskOver(const LateClientResult& result) {
  const TaskIndex task = result.task.task;
  tasks_[task] = {stateFrom(result.outcome, result.code), result.code, result.server, result.attempts,
                  result.phases};
  if (!result.problem.empty()) problem_ = result.problem;
  if (result.outcome == late::Outcome::kDone) ended_.push_back(task);
  if (!ended_.empty() && !std::exchange(isCopying_, true)) copying_ = copyOutputs().eagerlyEvaluate(nullptr);
  if (--notOver_ == 0) over_.fulfiller->fulfill();
}

void LateForegroundJob::agentFailed(const std::string& agent, const std::vector<late::ClientTask>& inFlight) {
  say("the agent at " + agent + " is out of reach, with " + counted(inFlight.size(), "task") +
      " in its hands; going on to the next");
}

void LateForegroundJob::denied(const Error& error) {
  over_.fulfiller->reject(toException(error));
}

// One task after the other, so that no two mix.
kj::Promise<void> LateForegroundJob::copyOutputs() {
  if (ended_.empty()) {
    isCopying_ = false;
    return kj::READY_NOW;
  }
  const TaskIndex task = ended_.front();
  ended_.pop_front();
  return copyStream(task, wire::Stream::STDOUT)
      .then([this, task]() { return copyStream(task, wire::Stream::STDERR); })
      .then([this]() { return copyOutputs(); });
}

kj::Promise<void> LateForegroundJob::copyStream(TaskIndex task, wire::Stream stream) {
  return agents_
      .copyOutput({id_, task, stream}, Follow::kToTheEnd,
                  [stream](std::string_view text) { put(stream, text); })
      .catch_([task](kj::Exception&& exception) {
        say("task " + std::to_string(task) +
            ": its output is incomplete: " + fromException(exception).message);
      });
}

kj::Promise<void> LateForegroundJob::watchSignals() {
  return cluster_.events()
      .onSignal(SIGINT)
      .exclusiveJoin(cluster_.events().onSignal(SIGTERM))
      .then([this](siginfo_t&& info) {
        if (stoppedBy_ == 0) {
          say("cancelling job " + toString(id_) + ": tasks that run get SIGTERM; once more to leave at once");
          stoppedBy_ = kSignalCodes + info.si_signo;
          client_.cancel(job_);
        } else {
          left_.fulfiller->fulfill();
        }
        return watchSignals();
      });
}

int LateForegroundJob::exitCode() const {
  if (stoppedBy_ != 0) return stoppedBy_;
  if (!problem_.empty()) {
    say("the job is refused: " + problem_);
    return kExitOfTarcil;
  }
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].state == RunState::kDone) continue;
    if (tasks_[i].state == RunState::kFailed) return tasks_[i].code;
    say("task " + std::to_string(i) + " is " + std::string(name(tasks_[i].state)) +
        (tasks_[i].server.empty() ? "" : " with server " + tasks_[i].server));
    return kExitOfTarcil;
  }
  return 0;
}

}  // namespace tarcil
