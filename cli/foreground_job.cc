#include "cli/foreground_job.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/output/output.h"
#include "cli/task_output.h"
#include "core/base/failure.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Tasks whose output is copied at the same time: each holds two calls at the agent. Later ones follow in
// order as earlier ones end. More than run at once: some may wait to be started again.
TaskIndex copiedAtOnce(const JobSpec& spec) {
  return std::min(spec.tasks, 2 * std::max(spec.concurrency, kForegroundTasksAtOnce));
}

// A line longer than this is passed on in pieces.
constexpr size_t kMaxLine = 64u << 10;

// How long nothing is said of a job that waits, and how often it is looked at then.
constexpr kj::Duration kPatience = 2 * kj::SECONDS;

// How long output is still waited for when the job was cancelled and is over.
constexpr kj::Duration kGrace = 3 * kj::SECONDS;

}  // namespace

// One stream of one task on its way to one of ours; whole lines where several tasks share it.
class ForegroundJob::Writer final {
 public:
  Writer(OwnStream& to, bool isShared) : to_(to), isShared_(isShared) {}

  void write(std::string_view text) {
    if (!isShared_) return to_.write(text);
    pending_ += text;
    const size_t end = pending_.rfind('\n');
    if (end == std::string::npos && pending_.size() < kMaxLine) return;
    const size_t ready = end == std::string::npos ? pending_.size() : end + 1;
    to_.write(std::string_view(pending_).substr(0, ready));
    pending_.erase(0, ready);
  }

  // The last line, where no newline ends it.
  void finish() { to_.write(std::exchange(pending_, "")); }

 private:
  OwnStream& to_;
  const bool isShared_;
  std::string pending_;
};

ForegroundJob::ForegroundJob(Cluster& cluster, const JobSpec& spec, ForegroundOptions options)
    : cluster_(cluster),
      spec_(spec),
      options_(std::move(options)),
      id_(makeJobId()),
      out_(cluster.events(), cluster.timer(), STDOUT_FILENO,
           [this](int error) { cannotWrite("stdout", error); }),
      err_(cluster.events(), cluster.timer(), STDERR_FILENO,
           [this](int error) { cannotWrite("stderr", error); }),
      lag_(cluster, id_, OutputLag::most(spec.limits.outputBytes),
           [this]() { return out_.room() == 0 || err_.room() == 0; }) {}

ForegroundJob::~ForegroundJob() noexcept(false) = default;

int ForegroundJob::run() {
  auto left = kj::newPromiseAndFulfiller<int>();
  leave_ = kj::mv(left.fulfiller);
  signals_ = watchSignals().eagerlyEvaluate(nullptr);
  return cluster_.wait(submitAndFollow().exclusiveJoin(kj::mv(left.promise)));
}

kj::Promise<int> ForegroundJob::submitAndFollow() {
  return submitJob(cluster_.client(), id_, spec_, std::move(options_.files))
      .then([this]() {
        over_.emplace(waitForJob(cluster_.client(), id_).ignoreResult().fork());
        if (stoppedBy_ != 0) cancelAndLeave();
        auto ended = over_->addBranch()
                         .then([this]() { return fetchJob(cluster_.client(), id_); })
                         .eagerlyEvaluate(nullptr);
        waiting_ = sayWhyItWaits("").eagerlyEvaluate([](kj::Exception&&) {});  // `ended` tells
        if (spec_.streamed && spec_.tasks > 1)
          limiting_ = lag_.limit().eagerlyEvaluate([](kj::Exception&&) {});
        auto copied = copyAll();
        // A lost connection that cannot be made again shows in `ended`; `copied` never fails.
        return ended.then([copied = kj::mv(copied)](JobStatus&& job) mutable {
          return copied.then([job = std::move(job)]() { return job; });
        });
      })
      .then([this](JobStatus&& job) {
        if (stoppedBy_ != 0) return stoppedBy_;
        std::string mishaps;
        const auto add = [&mishaps](const std::string& mishap) {
          mishaps.append(mishaps.empty() || mishap.empty() ? "" : "\n").append(mishap);
        };
        for (const TaskRecord& task : job.tasks) {
          add(mishapOf(task));
          if (task.end.started == kNever || !without_.contains(task.index)) continue;
          add("task " + std::to_string(task.index) + ": its output is not kept on server " + task.server +
              " any more, which has run many tasks since");
          lacksOutput_ = true;
        }
        if (dropped_ > 0)
          add(std::to_string(dropped_) +
              " bytes of output are missing: nobody took them for minutes, or the disk of the server has no "
              "holes; give it an --output-limit that holds them");
        int code = exitCodeOf(job);
        const bool lacksOutput = lacksOutput_ || dropped_ > 0 || anyLacksOutput(job);
        if (code == 0 && lacksOutput) {
          add("the command succeeded, and its output is incomplete");
          code = kExitOfTarcil;
        }
        if (code == kExitOfTarcil && mishaps.empty()) {
          mishaps = "the job is " + std::string(name(job.progress.state)) + ": " + job.progress.reason;
        }
        say(mishaps);
        return code;
      });
}

kj::Promise<void> ForegroundJob::sayWhyItWaits(std::string said) {
  return cluster_.timer()
      .afterDelay(kPatience)
      .then([this]() { return fetchCounts(cluster_.client(), id_); })
      .then([this, said = std::move(said)](JobCounts&& job) -> kj::Promise<void> {
        const RunState state = job.progress.state;
        const bool hasStarted = state != RunState::kQueued && state != RunState::kStarting;
        if (hasStarted || stoppedBy_ != 0) return kj::READY_NOW;
        const std::string& reason = job.progress.reason;
        if (!reason.empty() && reason != said) say("the job waits: " + reason);
        return sayWhyItWaits(reason);
      });
}

kj::Promise<void> ForegroundJob::copyAll() {
  kj::Vector<kj::Promise<void>> copies;
  for (TaskIndex i = 0; i < copiedAtOnce(spec_); ++i) {
    copies.add(copyNext().eagerlyEvaluate(nullptr));
  }
  return kj::joinPromises(copies.releaseAsArray())
      .then([this]() { return out_.untilWritten(); })
      .then([this]() { return err_.untilWritten(); });
}

kj::Promise<void> ForegroundJob::copyNext() {
  if (nextTask_ == spec_.tasks) return kj::READY_NOW;
  return copyTask(nextTask_++).then([this]() {
    lag_.noteCopied();
    return copyNext();
  });
}

kj::Promise<void> ForegroundJob::copyTask(TaskIndex task) {
  auto out = copyStream(task, wire::Stream::STDOUT).eagerlyEvaluate(nullptr);
  auto err = copyStream(task, wire::Stream::STDERR).eagerlyEvaluate(nullptr);
  return out.then([err = kj::mv(err)]() mutable { return kj::mv(err); });
}

kj::Promise<void> ForegroundJob::copyStream(TaskIndex task, wire::Stream stream) {
  OwnStream& own = stream == wire::Stream::STDOUT ? out_ : err_;
  auto writer = kj::heap<Writer>(own, spec_.tasks > 1);
  std::string* const kept = stream == wire::Stream::STDOUT ? options_.output : nullptr;
  Sink sink = [&writer = *writer, kept](std::string_view text) {
    if (kept != nullptr) {
      kept->append(text);
    } else {
      writer.write(text);
    }
  };
  auto copied = copyOutput(cluster_.client(), {id_, task, stream, spec_.streamed ? &own : nullptr},
                           Follow::kToTheEnd, std::move(sink));
  return copied
      .then(
          [this, &writer = *writer](uint64_t dropped) {
            dropped_ += dropped;
            writer.finish();
          },
          [this, task](kj::Exception&& exception) {
            const Error error = fromException(exception);
            // A task that never started has none.
            if (error.code == ErrorCode::kNotFound) {
              without_.insert(task);
              return;
            }
            lacksOutput_ = true;
            say("task " + std::to_string(task) + ": its output is incomplete: " + error.message);
          })
      .attach(kj::mv(writer));
}

// With a gap, the rest would be worth nothing.
void ForegroundJob::cannotWrite(const char* stream, int error) {
  if (stoppedBy_ != 0) return;
  if (error == EPIPE) return stopWith(kExitSignal + SIGPIPE);
  say(std::string("cannot write to ") + stream + ": " + std::strerror(error) + "; the job is cancelled");
  stopWith(kExitOfTarcil);
}

kj::Promise<void> ForegroundJob::watchSignals() {
  return cluster_.events()
      .onSignal(SIGINT)
      .exclusiveJoin(cluster_.events().onSignal(SIGTERM))
      .then([this](siginfo_t&& info) {
        if (stoppedBy_ == 0) {
          say("cancelling job " + toString(id_) + "; once more to leave at once");
          stopWith(kExitSignal + info.si_signo);
        } else {
          say("left; `tarcil job status " + toString(id_) + "` tells how the job ended");
          leave_->fulfill(int{stoppedBy_});
        }
        return watchSignals();
      });
}

void ForegroundJob::stopWith(int exitCode) {
  if (stoppedBy_ != 0) return;
  stoppedBy_ = exitCode;
  if (over_) cancelAndLeave();
}

// Where our own reader has stalled, the rest of the output would never be over.
void ForegroundJob::cancelAndLeave() {
  limiting_ = nullptr;
  cancelling_ = cancel().eagerlyEvaluate(nullptr);
  leaving_ = over_->addBranch()
                 .then([this]() { return cluster_.timer().afterDelay(kGrace); })
                 .then([this]() { leave_->fulfill(int{stoppedBy_}); })
                 .eagerlyEvaluate([](kj::Exception&&) {});  // who waits for the job is told
}

kj::Promise<void> ForegroundJob::cancel() {
  return cluster_.client()
      .ask([id = id_](Session& session) {
        auto request = session.user.cancelRequest();
        request.setId(bytesOf(id));
        return request.send();
      })
      .then([](capnp::Response<wire::UserPort::CancelResults>&&) {},
            [](kj::Exception&& exception) { say("cannot cancel: " + fromException(exception).message); });
}

int exitCodeOf(const JobStatus& job) {
  for (const TaskRecord& task : job.tasks) {
    if (task.state == RunState::kDone) continue;
    const TaskEnd& end = task.end;
    if (task.state == RunState::kLost || end.cause == EndCause::kLost ||
        end.cause == EndCause::kNeverStarted) {
      return kExitOfTarcil;
    }
    if (end.signal != 0) return kExitSignal + end.signal;
    return end.exitCode != 0 ? end.exitCode : kExitOfTarcil;
  }
  return job.progress.state == RunState::kDone ? 0 : kExitOfTarcil;
}

bool anyLacksOutput(const JobStatus& job) {
  return std::ranges::any_of(job.tasks, [](const TaskRecord& task) { return task.end.lacksOutput; });
}

std::string mishapOf(const TaskRecord& task) {
  const TaskEnd& end = task.end;
  const std::string subject = "task " + std::to_string(task.index) + " ";
  const std::string detail = end.problem.empty() ? "" : ": " + end.problem;
  if (task.state == RunState::kDone && end.lacksOutput) return subject + "ran to its end" + detail;
  if (task.state == RunState::kDone)
    return end.oomKilled ? subject + "ran out of memory and went on" + detail : "";
  if (end.oomKilled) return subject + "ran out of memory" + detail;
  if (task.state == RunState::kLost || end.cause == EndCause::kLost) {
    return subject + "was lost with server " + task.server + detail;
  }
  if (task.state == RunState::kCancelled) return subject + "was cancelled" + detail;
  if (end.cause == EndCause::kNeverStarted) return subject + "could not be started" + detail;
  if (end.cause == EndCause::kTimedOut)
    return subject + "was stopped: it " + (end.problem.empty() ? "ran longer than its timeout" : end.problem);
  return detail.empty() ? "" : subject + "failed" + detail;
}

}  // namespace tarcil
