#include "env/linux/loop_watch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <utility>

#include "env/linux/worker_thread.h"
#include "env/messages.h"
#include "env/stall_detector.h"
#include "env/stop.h"

namespace tarcil {
namespace {

// Of a thread of this process, as in proc(5): 'D' waits in the kernel for what cannot be interrupted.
char stateOf(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name = text.rfind(") ");
  return name == std::string::npos || name + 2 >= text.size() ? '?' : text[name + 2];
}

std::string reasonOf(int thread) {
  if (stateOf(thread) == 'D') return "it waits for a disk that does not answer, and goes on when that does";
  return "what it does takes long, or the machine has no time for it";
}

}  // namespace

LoopWatch::LoopWatch(kj::Timer& timer, std::string name)
    : timer_(timer),
      name_(std::move(name)),
      loop_(static_cast<int>(::syscall(SYS_gettid))),
      beating_(beat().eagerlyEvaluate(stopsIfFailed("the beat of the event loop"))),
      thread_(startWorker([this]() { watch(); })) {}

LoopWatch::~LoopWatch() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

kj::Promise<void> LoopWatch::beat() {
  ++beats_;
  return timer_.afterDelay(1 * kj::SECONDS).then([this]() { return beat(); });
}

void LoopWatch::watch() {
  StallDetector detector;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::seconds(1), [this]() { return stop_; })) {
    switch (detector.look(beats_, true)) {
      case StallDetector::News::kNone:
        break;
      case StallDetector::News::kStalled:
        say(name_ + ": nobody has been served for " + std::to_string(StallDetector::kLooksUntilStalled) +
            " s: " + reasonOf(loop_));
        break;
      case StallDetector::News::kGoesOn:
        say(name_ + ": goes on");
        break;
    }
  }
}

}  // namespace tarcil
