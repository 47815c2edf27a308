// A job in the foreground of a terminal: its output is copied as it comes, Ctrl-C cancels it, and it gives
// the exit code.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/job_status.h"
#include "cli/output_lag.h"
#include "cli/own_stream.h"

namespace tarcil {

// What `tarcil run` exits with when it is not the command that failed.
inline constexpr int kExitOfTarcil = 125;

// What is kept of the output of each task until it is passed on, where nobody says how much: such output
// flows, and a server has room for that of many tasks.
inline constexpr uint64_t kForegroundOutputBytes = 8u << 20;

// Tasks that run at once where nobody says how many, and at most: what each writes is passed on as it comes.
inline constexpr uint32_t kForegroundTasksAtOnce = 128, kMaxForegroundTasksAtOnce = 512;

struct ForegroundOptions {
  std::vector<InputFile> files = {};
  std::string* output = nullptr;  // what the tasks write to stdout goes here and not to ours
};

class ForegroundJob final {
 public:
  // Requires: SIGINT and SIGTERM are captured (kj::UnixEventPort); `spec` and `options.output` outlive this.
  ForegroundJob(Cluster& cluster, const JobSpec& spec, ForegroundOptions options = {});
  ~ForegroundJob() noexcept(false);
  KJ_DISALLOW_COPY(ForegroundJob);

  // Submits the job, copies its output, waits for its end. The exit code: exitCodeOf() the job; 130 (143)
  // when SIGINT (SIGTERM) cancelled it; 141 when nobody reads the output any more; kExitOfTarcil when that
  // cannot be written, or lacks something. Says on stderr what the code does not: why it waits, out of
  // memory, lost, timed out. Throws as Cluster does.
  int run();

 private:
  class Writer;

  kj::Promise<int> submitAndFollow();
  // Each time that the reason is another than this one, until it does not wait any more.
  kj::Promise<void> sayWhyItWaits(std::string said);
  kj::Promise<void> copyAll();
  kj::Promise<void> copyNext();
  kj::Promise<void> copyTask(TaskIndex task);
  kj::Promise<void> copyStream(TaskIndex task, wire::Stream stream);
  kj::Promise<void> watchSignals();
  void cannotWrite(const char* stream, int error);
  void stopWith(int exitCode);
  void cancelAndLeave();
  kj::Promise<void> cancel();

  Cluster& cluster_;
  const JobSpec& spec_;
  ForegroundOptions options_;
  const JobId id_;
  OwnStream out_, err_;

  int stoppedBy_ = 0;  // exit code of what stopped the job, 0 while nothing has
  TaskIndex nextTask_ = 0;
  uint64_t dropped_ = 0;  // bytes of output
  bool lacksOutput_ = false;
  std::set<TaskIndex> without_;  // tasks whose output is not there
  OutputLag lag_;
  std::optional<kj::ForkedPromise<void>> over_;  // the job; from its submission on
  kj::Own<kj::PromiseFulfiller<int>> leave_;
  kj::Promise<void> signals_ = nullptr;
  kj::Promise<void> cancelling_ = nullptr;
  kj::Promise<void> leaving_ = nullptr;
  kj::Promise<void> waiting_ = nullptr;
  kj::Promise<void> limiting_ = nullptr;
};

// The exit code of the first task in order that did not succeed: its own, 128 + n for signal n, kExitOfTarcil
// where it never ran, was lost, or ended by itself with 0 and failed all the same. 0 where all succeeded.
int exitCodeOf(const JobStatus& job);

// Whether some of the output of any task is not there, as its server says.
bool anyLacksOutput(const JobStatus& job);

// What an exit code does not tell about a task; empty where it tells all.
std::string mishapOf(const TaskRecord& task);

}  // namespace tarcil
