// A ContainerExecutor with a listener that remembers, for tests that run real tasks. Needs root
// and namespaces.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <kj/async-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "env/clock.h"
#include "monitor/container/container_executor.h"
#include "monitor/container/task_output.h"
#include "tests/support/temporary_folder.h"

namespace tarcil {

// Why containers cannot be tested here; empty if they can.
inline std::string whyNoContainers() {
  if (::geteuid() != 0) return "needs root";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? "" : "needs the right to make namespaces";
}

#define SKIP_WITHOUT_CONTAINERS() \
  if (const auto reason = whyNoContainers(); !reason.empty()) GTEST_SKIP() << reason

inline std::string textOf(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline ContainerOptions optionsIn(const std::string& folder) {
  ContainerOptions options;
  options.dataDirectory = folder + "/data";
  options.shim = TARCIL_SHIM;
  options.tag = "test-" + std::to_string(::getpid());
  options.server = "s1";
  options.allowRoot = true;
  return options;
}

// A task of user nobody.
inline LaunchSpec taskOf(AllocationId allocation, std::vector<std::string> command) {
  LaunchSpec spec;
  spec.allocation = allocation;
  spec.job.bytes[15] = 7;
  spec.jobName = "test";
  spec.server = "s1";
  spec.rus = {0};
  spec.command = std::move(command);
  spec.user = "nobody";
  return spec;
}
inline LaunchSpec script(AllocationId allocation, const std::string& text) {
  return taskOf(allocation, {"sh", "-c", text});
}

// An executor with its event loop. What it says is kept in `started` and `ended`.
class Containers final : private ExecutorListener {
 public:
  explicit Containers(ContainerOptions options)
      : folder_(options.dataDirectory), group_("tarcil-" + options.tag), loop_(port_), scope_(loop_) {
    auto opened = ContainerExecutor::open(std::move(options), port_, systemClock(), *this);
    if (!opened) throw std::runtime_error(opened.error().message);
    executor_ = kj::mv(*opened);
  }

  ~Containers() noexcept {}

  ContainerExecutor& executor() { return *executor_; }

  void start(const LaunchSpec& spec, const std::vector<InputFile>& files = {},
             const std::vector<TaskSecret>& secrets = {}) {
    executor_->record(spec);
    executor_->start(spec, files, secrets);
  }

  // Runs a task to its end.
  TaskEnd run(const LaunchSpec& spec, const std::vector<InputFile>& files = {},
              const std::vector<TaskSecret>& secrets = {}) {
    start(spec, files, secrets);
    return endOf(spec.allocation);
  }

  TaskEnd endOf(AllocationId allocation) {
    waitUntil([this, allocation] { return ended.contains(allocation); });
    return ended[allocation];
  }
  void untilStarted(AllocationId allocation) {
    waitUntil([this, allocation] { return started.contains(allocation); });
  }
  void wait(kj::Duration time) { port_.getTimer().afterDelay(time).wait(scope_); }
  // The task writes what the test waits for as the last of its preparations.
  void untilOutput(AllocationId allocation, const std::string& text) {
    while (out(allocation).find(text) == std::string::npos) {
      wait(kj::MILLISECONDS);
    }
  }

  std::string out(AllocationId allocation) { return output(allocation, Stream::kStdout); }
  std::string err(AllocationId allocation) { return output(allocation, Stream::kStderr); }
  const std::string& folder() const { return folder_; }

  std::map<AllocationId, WallTime> started;
  std::map<AllocationId, TaskEnd> ended;
  std::map<AllocationId, std::string> images;  // digests of those that tasks run in
  std::vector<std::string> events;             // "start 1", "end 1" in their order

 private:
  void imageFound(AllocationId allocation, const std::string& digest) override {
    images[allocation] = digest;
  }
  void taskStarted(AllocationId allocation, WallTime when) override {
    started[allocation] = when;
    note("start", allocation);
  }
  void taskEnded(AllocationId allocation, const TaskEnd& end) override {
    EXPECT_FALSE(ended.contains(allocation)) << "two ends of " << allocation;
    ended[allocation] = end;
    note("end", allocation);
  }
  void note(const char* what, AllocationId allocation) {
    events.push_back(std::string(what) + " " + std::to_string(allocation));
    if (wake_) (*std::exchange(wake_, nullptr))->fulfill();
  }

  template <typename Condition>
  void waitUntil(Condition condition) {
    while (!condition()) {
      auto next = kj::newPromiseAndFulfiller<void>();
      wake_ = std::make_unique<kj::Own<kj::PromiseFulfiller<void>>>(kj::mv(next.fulfiller));
      next.promise.wait(scope_);
    }
  }

  std::string output(AllocationId allocation, Stream stream) {
    const auto text = readOutput(folder_, allocation, stream, 0, 1 << 20);
    return text ? text->text : "error: " + text.error().message;
  }

  std::string folder_;
  std::string group_;
  kj::UnixEventPort port_;
  kj::EventLoop loop_;
  kj::WaitScope scope_;
  std::unique_ptr<kj::Own<kj::PromiseFulfiller<void>>> wake_;
  kj::Own<ContainerExecutor> executor_;
};

}  // namespace tarcil
