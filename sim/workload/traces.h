// Job streams of real clusters out of the files that they are published in. The text is read, not the file:
// whoever opens it also unpacks it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "sim/workload/workload.h"

namespace tarcil::sim {

struct TraceJob {
  SimTime arrival{};  // as the file counts time
  uint32_t tasks = 1;
  uint32_t rus = 1;         // of each task
  Duration each{};          // how long a task runs
  std::string application;  // jobs of the same one are alike

  bool operator==(const TraceJob&) const = default;
};

struct Trace {
  std::vector<TraceJob> jobs;  // as in the file
  size_t skipped = 0;          // lines that are whole but tell of nothing that ran
};

// All of these: kInvalid with "file:line:column: field: problem; remedy" for what is wrong, and also where no
// job is in the text.

// Standard Workload Format: 18 fields a line, ";" begins a comment. A processor is a task of one unit; as
// many as were allocated or, where that is not known, requested. Skipped: jobs without run time or
// processors. Alike are jobs of one user and one executable.
Result<Trace> readSwf(std::string_view text, const std::string& file);

// The pods of Alibaba's openb. A pod is a task of as many units as cores, rounded up, from when it was
// scheduled until it was deleted; it arrives when it was created. Skipped: pods that were never scheduled.
// Alike are pods of one class of service that ask for as much.
Result<Trace> readOpenb(std::string_view text, const std::string& file);

// SWIM: name, submission, gap, bytes of input, shuffle and output; durations are not in it. A task for each
// 128 MiB of input, at most 10,000; each starts for 1 s and then moves its part of all three at 50 MB/s.
// Alike are jobs whose bytes are of one order of magnitude in all three.
Result<Trace> readSwim(std::string_view text, const std::string& file);

// The jobs by arrival, from 0. What is alike gets one application of so many, by a hash of its name. Tasks
// beyond `mostRus` units are cut to that: they would fit no server.
Workload workloadOf(const Trace& trace, uint16_t applications, uint32_t mostRus);

}  // namespace tarcil::sim
