// Measures what the kernels' dials mean on this machine, and how much kernels disturb each other.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "classifier/kernels/machine.h"
#include "core/base/result.h"
#include "profiler/calibration.h"

namespace tarcil {

// A line of progress for people.
using Progress = std::function<void(const std::string&)>;

struct CalibrateOptions {
  std::string platform = "default";
  // How long all of it may take, roughly: it decides how long each figure is measured. What takes its own
  // time, such as filling memory, comes on top.
  std::chrono::seconds budget{60};
  std::string scratch = ".";
};

// Everything: dials, contention, cross-talk. Needs two cores, or says of contention that it is not
// measurable. Requires: the calling process has no other threads.
Calibration calibrate(const Machine& machine, const CalibrateOptions& options, const Progress& progress);

// Dials and contention of these resources alone, within seconds; all others are absent.
Calibration calibrateSome(const Machine& machine, const std::vector<Resource>& resources,
                          const CalibrateOptions& options, const Progress& progress);

// The pressure that a kernel whose dial stands at `intensity` really makes when it does `rate` work a second:
// less where its cores cannot do more.
double pressureReached(const Calibration& calibration, Resource resource, int intensity, double rate);

// Where a command of so many cores runs, and where what presses on it does.
struct Seats {
  std::vector<int> command;
  std::vector<int> neighbours;  // physical cores of others
  std::vector<int> siblings;    // the command's cores' other hardware threads
};
// Nobody else's core where `count` is as many as there are.
Seats seatsFor(const Machine& machine, size_t count);

// Why the resource cannot be contended for between the cores of this machine; nullopt: it can.
std::optional<std::string> whyNotContended(Resource resource, const Seats& seats);

// The cores on which a kernel disturbs the command. Requires: !whyNotContended(resource, seats).
const std::vector<int>& pressingCores(Resource resource, const Seats& seats);

}  // namespace tarcil
