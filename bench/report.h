// How the programs of this folder print what they measured, and under which conditions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tarcil::bench {

using Steady = std::chrono::steady_clock;

double milliseconds(Steady::duration duration);

// Processor time of this thread, in nanoseconds: other work on the machine is not in it, but for what it
// takes of the caches.
double processorNs();

// One line: kernel, cores, memory, load of the last minute, build. A second one where asserts are on.
void printConditions();

// One line: least, median, p95, p99 and most, and how many there were. Requires: not empty.
void printSpread(const std::string& what, std::vector<double> ms);

// Where a share lies, seen to hold in `hits` of `of` trials: 95 % (Clopper and Pearson). All of [0, 1] where
// nothing was tried.
struct Interval {
  double low = 0, high = 1;
};
Interval shareInterval(uint64_t hits, uint64_t of);

// What the processors of this machine did since construction, all processes together.
class MachineCpu {
 public:
  MachineCpu();

  // Seconds of processor time.
  double busySeconds() const;

 private:
  const double busyAtStart_;
};

}  // namespace tarcil::bench
