// Runs a command once, on some cores, and says how it went: nothing of it is left when that returns.
//
// A process of its own stands over the command, adopts whatever leaves it, and ends all of it when the
// command has ended, when its time is up, or when the caller dies.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "profiler/event_count.h"

namespace tarcil {

using Seconds = std::chrono::duration<double>;

struct CommandPlan {
  std::vector<std::string> words;  // no shell in between; found by PATH
  std::vector<int> cores;          // that it may use
  Seconds atMost{60};              // then it is ended
  // Performance that the command reports: lines on stdout that begin with this and go on with a number.
  // Empty: none is looked for.
  std::string metric;
  // What is counted of all its processes.
  std::optional<CountedEvent> counted{};
};

struct CommandOutcome {
  Seconds wall{};              // from before its start until it ended, or was ended
  bool wasCut = false;         // its time was up
  int exitCode = 0;            // where it ended by itself
  int signal = 0;              // where a signal ended it
  double cpuSeconds = 0;       // of all its processes
  double waitedSeconds = 0;    // that it was ready and had no core, where it is a single process
  uint64_t memoryBytes = 0;    // the most that its processes held together, looked at every 50 ms
  uint64_t diskBytes = 0;      // read from disks and written for them
  uint32_t leftProcesses = 0;  // were still there when it ended, and were ended
  uint64_t outputBytes = 0;
  std::string lastWords;  // the end of what it wrote to stderr, at most 500 bytes
  // Of a run that was cut, these leave out the first quarter of its time:
  // The mean of what it reported, and how often.
  std::optional<double> metric;
  uint32_t metricSamples = 0;
  // Of the event that was to be counted.
  std::optional<double> countedPerSecond;

  bool succeeded() const { return !wasCut && exitCode == 0 && signal == 0; }
};

// stdin is empty, what the command writes is read and dropped. NotFound: it cannot be started, or the
// event cannot be counted. Requires: the calling process has no other threads.
Result<CommandOutcome> runCommand(const CommandPlan& plan);

}  // namespace tarcil
