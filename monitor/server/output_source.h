// Where the monitor's shell gets the output of tasks, and files that are kept of them, from.
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <map>
#include <memory>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "monitor/container/task_output.h"
#include "monitor/container/task_results.h"

namespace tarcil {

class OutputSource {
 public:
  virtual ~OutputSource() noexcept(false) = default;

  // As readOutput() in task_output.h.
  virtual Result<OutputPart> read(AllocationId allocation, Stream stream, uint64_t offset, size_t most) = 0;

  // What is before `offset` of a streamed task's output has arrived where it is wanted. Lost where the task
  // is over, and where it is not streamed.
  virtual void taken(AllocationId allocation, Stream stream, uint64_t offset) = 0;

  // Resolves when there may be more than `offset` bytes. May resolve early; may never resolve once the task
  // has ended.
  virtual kj::Promise<void> grown(AllocationId allocation) = 0;

  // As listResults() and readResult() in task_results.h.
  virtual Result<ResultsPage> results(AllocationId allocation, const std::string& after) = 0;
  virtual Result<std::string> readResult(AllocationId allocation, const std::string& path, uint64_t offset,
                                         size_t most) = 0;
};

// Output of containers: files below the executor's data folder, watched by inotify.
std::unique_ptr<OutputSource> fileOutput(std::string dataFolder, kj::UnixEventPort& port);

// Emulated tasks write nothing; asked for files that are kept of one, it says so.
std::unique_ptr<OutputSource> noOutput();

}  // namespace tarcil
