// A kernel as a process: one thread on each of some cores, all pressing on one resource.
//
// The process dies with the thread that made it, whatever ends that. At intensity 0 it sleeps and costs
// nothing but the buffers it has.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "classifier/kernels/kernel.h"

namespace tarcil {

struct PressPlan {
  KernelSetup kernel;      // `threads` is set by Press
  std::vector<int> cores;  // one thread on each; at least one
  // Work a second of the whole machine at 99, in workUnit(): what x % is a share of. nullopt: not known; a
  // dial of the kind kRate then has but two positions, off and full speed.
  std::optional<double> peak;
};

class Press final {
 public:
  // Starts the process, at intensity 0. Kernels of memory capacity and of disk bandwidth have one thread,
  // whatever the cores. Requires: the calling process has no other threads.
  static Result<Press> start(const PressPlan& plan);
  ~Press();  // kills it, and waits until it is gone
  Press(Press&& other) noexcept;
  Press& operator=(Press&& other) noexcept;

  // Turns the dial, and returns when the kernel presses so hard. Error: it could not, or died; what it held
  // is given back.
  Status set(int intensity);

  // What was done since the start: differences over time are rates.
  struct Done {
    double work = 0;         // in workUnit()
    double busySeconds = 0;  // that its threads had a core for
  };
  Done done() const;

  pid_t pid() const { return pid_; }

 private:
  struct Shared;  // a page that both processes see
  Press() = default;
  Status waitForThreads(int intensity);

  pid_t pid_ = -1;
  int reports_ = -1;  // pipe on which threads say that they are ready, or what went wrong
  int threads_ = 0;
  std::chrono::seconds readyWithin_{};
  Shared* shared_ = nullptr;
  std::string resource_;
};

// How fast a kernel works over some time.
struct Pace {
  double rate = 0;  // work a second: the pressure that it makes
  // The speed by which it notices others: work for each second in which its threads had a core, so that
  // programs that take its cores from it do not count. Of disks, which it waits for, and of memory that it
  // holds: the rate.
  double speed = 0;
};
Pace paceBetween(Resource resource, const Press::Done& before, const Press::Done& after,
                 std::chrono::duration<double> passed);

// Requires: `window` above 0.
Pace paceOver(Resource resource, const Press& press, std::chrono::nanoseconds window);

}  // namespace tarcil
