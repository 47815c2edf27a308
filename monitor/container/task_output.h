// What tasks have written, for logs.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace tarcil {

enum class Stream : uint8_t { kStdout, kStderr };

// A part of what a task wrote: `text` begins at byte `offset` of all that it ever wrote.
struct OutputPart {
  uint64_t offset = 0;
  std::string text;
};

// At most `max` bytes from `offset` of a task's output, running, ended or forgotten; empty at or beyond the
// end so far. Where the output from `offset` on has been dropped since (limits.output), what follows that.
// kNotFound: the executor with this data directory does not know the task, or its output is no longer kept.
Result<OutputPart> readOutput(const std::string& dataDirectory, AllocationId allocation, Stream stream,
                              uint64_t offset, size_t max);

// Tells what moves the output of a task that runs and is streamed (TaskSpec::streamed) that what is before
// `offset` has arrived where it is wanted. Nothing happens where there is no such task.
void tellTaken(const std::string& dataDirectory, AllocationId allocation, Stream stream, uint64_t offset);

}  // namespace tarcil
