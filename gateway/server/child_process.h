// A process that a gateway starts, and that ends with it.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tarcil::gateway {

struct ChildCommand {
  std::string program;
  std::vector<std::string> arguments;  // without its name
  uint64_t memoryBytes = 0;            // of addresses that it may have; 0: as many as there are
  uint64_t outputBytes = 4 << 20;      // with more on stdout it is killed
};

// How it ended.
struct ChildEnd {
  bool isGood = false;  // exit code 0
  std::string how;      // "exited with code 2", "was killed by signal 9 (Killed)"
  std::string output;   // what it wrote to stdout
};

// Behind others: it has the least claim to the processor. On the event loop. Where the gateway dies, the
// kernel kills it.
class ChildProcess final {
 public:
  // Starts it. `said` is given each line that it writes to stderr, cut at 4 KiB. Throws where no process can
  // be made. `io` and `port` outlive it.
  ChildProcess(kj::LowLevelAsyncIoProvider& io, kj::UnixEventPort& port, const ChildCommand& command,
               std::function<void(const std::string&)> said);
  // Kills it where it has not ended, and waits for that.
  ~ChildProcess() noexcept(false);
  KJ_DISALLOW_COPY(ChildProcess);

  // To be called once; done when it has ended and all that it wrote was read.
  kj::Promise<ChildEnd> ended();
  // It ends at once, and ended() is done soon.
  void kill();

 private:
  kj::Promise<void> readErrors();
  void takeErrors(std::string_view text);
  ChildEnd reap();

  const uint64_t outputBytes_;
  const std::function<void(const std::string&)> said_;
  int pid_ = 0;  // 0: it has been waited for
  kj::AutoCloseFd process_;
  kj::Own<kj::UnixEventPort::FdObserver> observer_;
  kj::Promise<void> gone_ = nullptr;
  kj::Own<kj::AsyncInputStream> output_, errors_;
  std::string line_;
  char buffer_[4096];
};

}  // namespace tarcil::gateway
