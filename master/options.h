// What an operator sets for a master process. Fixed while it runs.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace tarcil {

struct MasterOptions {
  // How long an agent may be away before its jobs go to another one. Long enough for a restart, short enough
  // that nobody waits long.
  Duration agentGrace = std::chrono::seconds(3);
  // How long a server's monitor may be away before the server's tasks are declared lost. Tasks outlive their
  // monitor, so this is generous.
  Duration serverGrace = std::chrono::seconds(60);
  // Finished jobs that are kept for `job list` and `job status`; the oldest beyond are erased.
  uint32_t keepFinishedJobs = 10'000;
  // Bytes to be left free on the store's disk: below it new jobs are refused, so that what the running ones
  // still have to write finds room. 0: never. The log of recent writes and the files that RocksDB merges take
  // some 100 MiB.
  uint64_t diskReserve = uint64_t{256} << 20;
};

}  // namespace tarcil
