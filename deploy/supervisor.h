// Starts the processes of a local cluster, starts those again that die, and stops all of them in the end. One
// whose disk has failed is stopped, with its tasks, and stays so.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deploy/local_cluster.h"

namespace tarcil {

struct RunningRole {
  RoleCommand command;
  int pid = 0;
};

// How long stop() takes at most, beside the grace.
inline constexpr auto kStopPatience = 10 * kj::SECONDS;
inline constexpr auto kMostStopping = 5 * kStopPatience;

// Lives on the thread of its event loop, in a process without other threads. SIGCHLD must be captured by the
// port (kj::UnixEventPort::captureChildExit) before it is made.
class Supervisor final : private kj::TaskSet::ErrorHandler {
 public:
  // `report` gets lines for people: restarts and their reasons.
  Supervisor(kj::UnixEventPort& port, kj::LowLevelAsyncIoProvider& io, kj::Timer& timer, std::string program,
             std::function<void(const std::string&)> report);

  // Starts one stage after the other. Resolves when every process has said that it is ready; fails, with a
  // text that has the end of its log, when one of them ends before that.
  kj::Promise<void> start(std::vector<std::vector<RoleCommand>> stages);

  std::vector<RunningRole> roles() const;

  // SIGHUP to every process, the master first: what it reads again is there when others ask it.
  void hangUp() const;

  // SIGTERM to every process, agents first, masters last and then their etcd, so that what ends is still
  // recorded; SIGKILL to what is there after ten seconds, to monitors after `grace` more.
  kj::Promise<void> stop(kj::Duration grace);

 private:
  struct Role {
    RoleCommand command;
    kj::Maybe<pid_t> pid;
    int restarts = 0;
    kj::TimePoint started = kj::origin<kj::TimePoint>();
    kj::Own<kj::PromiseFulfiller<void>> ended;  // set by stop()
    bool hasLostDisk = false;
  };

  kj::Promise<void> startStage(std::vector<std::vector<RoleCommand>> stages, size_t number);
  kj::Promise<void> startRole(Role& role);
  kj::Promise<void> supervise(Role& role);
  kj::Promise<void> watchDisk(Role& role);
  void exited(Role& role, int status);
  void startAgain(Role& role);
  kj::Promise<void> stopAll(const std::string& kind, kj::Duration patience);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  kj::LowLevelAsyncIoProvider& io_;
  kj::Timer& timer_;
  const std::string program_;
  const std::function<void(const std::string&)> report_;
  std::map<std::string, Role> roles_;
  bool up_ = false;
  bool stopping_ = false;
  kj::TaskSet tasks_;
};

}  // namespace tarcil
