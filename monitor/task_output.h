// What tasks have written, for logs.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace tarcil {

enum class Stream : uint8_t { kStdout, kStderr };

// At most `max` bytes from `offset` of a task's output, running, ended or forgotten; empty at or beyond the
// end so far. kNotFound: the executor with this data directory does not know the task, or its output is no
// longer kept.
Result<std::string> readOutput(const std::string& dataDirectory, AllocationId allocation, Stream stream,
                               uint64_t offset, size_t max);

}  // namespace tarcil
