#include "cli/late_foreground.h"

#include <signal.h>

#include <cstdio>
#include <utility>

#include "cli/foreground_job.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "env/clock.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// As shells end where they cannot execute a command.
constexpr int kNotExecutable = 126, kNotFound = 127;

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
      watcher_(id_, spec, [this](const LateClientResult& result) { taskOver(result); }),
      client_(cluster.net(), systemClock(), cluster.agents(), cluster.token(), {}, watcher_),
      spec_(std::move(spec)) {}

int LateForegroundJob::run() {
  requireCluster(cluster_);
  auto left = kj::newPromiseAndFulfiller<void>();
  leave_ = kj::mv(left.fulfiller);
  signals_ = watchSignals().eagerlyEvaluate(nullptr);
  LateClientJob job;
  job.id = id_;
  job.spec = spec_;
  job_ = client_.submit(std::move(job));
  auto copied = watcher_.over().then([this]() { return std::exchange(copying_, kj::READY_NOW); });
  cluster_.wait(copied.exclusiveJoin(kj::mv(left.promise)));
  return exitCode();
}

void LateForegroundJob::taskOver(const LateClientResult& result) {
  if (result.outcome != late::Outcome::kDone) return;
  ended_.push_back(result.task.task);
  if (!std::exchange(isCopying_, true)) copying_ = copyOutputs().eagerlyEvaluate(nullptr);
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
      .catch_([this, task](kj::Exception&& exception) {
        lacksOutput_ = true;
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
          say("cancelling job " + toString(id_) + ": running tasks get SIGTERM; once more to exit at once");
          stoppedBy_ = kExitSignal + info.si_signo;
          client_.cancel(job_);
        } else {
          leave_->fulfill();
        }
        return watchSignals();
      });
}

// With these a shell, too, says that there was nothing to execute; the command itself may have ended with
// them.
void LateForegroundJob::sayWhyNotExecuted(size_t number, const LateTaskStatus& task) const {
  if (task.code != kNotExecutable && task.code != kNotFound) return;
  say("task " + std::to_string(number) + " ended with " + std::to_string(task.code) + ": the command " +
      shown(spec_.command.front()) + (task.code == kNotFound ? " was not found" : " could not be executed") +
      (task.server.empty() ? "" : " on " + task.server) + ", or says so of its own");
}

int LateForegroundJob::exitCode() const {
  if (stoppedBy_ != 0) return stoppedBy_;
  const LateJobStatus& status = watcher_.status();
  if (!status.problem.empty()) {
    say("the job is refused: " + status.problem);
    return kExitOfTarcil;
  }
  for (size_t i = 0; i < status.tasks.size(); ++i) {
    const LateTaskStatus& task = status.tasks[i];
    if (task.state == RunState::kDone) continue;
    if (task.state == RunState::kFailed) {
      sayWhyNotExecuted(i, task);
      return task.code;
    }
    say("task " + std::to_string(i) + " is " + std::string(name(task.state)) +
        (task.server.empty() ? "" : " with server " + task.server));
    return kExitOfTarcil;
  }
  return lacksOutput_ ? kExitOfTarcil : 0;
}

}  // namespace tarcil
