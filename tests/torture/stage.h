// What all that play in a torture run share. Single-threaded.
#pragma once

#include <kj/io.h>

#include <deque>
#include <functional>
#include <string>

#include "core/base/rng.h"
#include "rpc/connection.h"
#include "tests/torture/history.h"

namespace tarcil::torture {

// The history, in its file as soon as noted.
class Recorder final {
 public:
  // Throws where the file cannot be made.
  explicit Recorder(const std::string& path);
  void note(const Event& event) { writeEvent(event, out_); }

 private:
  kj::FdOutputStream out_;
};

struct Stage {
  const Net net;
  const std::string master;  // address
  Rng& rng;
  Recorder& history;
  // False: everybody brings what is under way to its end and begins nothing new.
  bool acting = true;
  CallId lastCall = 0;
  LinkId lastLink = 0;
  // Jobs that were submitted lately, the newest last.
  std::deque<JobId> recentJobs{};
  // Hands a task to the monitor of the server, as an agent's launch does; a repeat starts nothing.
  std::function<void(AllocationId, const std::string& server)> launch{};

  bool chance(uint64_t oneIn) { return rng.below(oneIn) == 0; }
  kj::Promise<void> pause(uint64_t mostMicroseconds) {
    return net.timer.afterDelay(static_cast<int64_t>(rng.below(mostMicroseconds)) * kj::MICROSECONDS);
  }
  void noteJob(const JobId& job) {
    recentJobs.push_back(job);
    if (recentJobs.size() > 40) recentJobs.pop_front();
  }
};

}  // namespace tarcil::torture
