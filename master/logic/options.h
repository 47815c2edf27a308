// What an operator sets for a master process. Fixed while it runs.
#pragma once

#include <cstdint>

#include "core/base/time.h"
#include "core/model/job.h"

namespace tarcil {

struct MasterOptions {
  // How long an agent may be away before its jobs go to another one. Long enough for a restart, short enough
  // that nobody waits long.
  Duration agentTimeout = std::chrono::seconds(3);
  // How long a server's monitor may be away before the server's tasks are declared lost. Tasks outlive their
  // monitor, so this is generous.
  Duration serverTimeout = std::chrono::seconds(60);
  // Finished jobs that are kept for `job list` and `job status`, and for how long; the oldest beyond are
  // erased. Enough for a week's look back, in memory that a small master has.
  uint32_t keepFinishedJobs = 10'000;
  Duration keepFinishedFor = std::chrono::days(7);
  // Jobs that may be unfinished at once, of one user and in all; beyond, a submission is refused with "try
  // again". They bound the memory of the master, and one user cannot shut out the others.
  uint32_t maxUnfinishedOfUser = 20'000;
  uint32_t maxUnfinished = 100'000;
  // Tasks that one job may have, at most kMaxTasks; more are refused. Lower: no job floods the queue.
  uint32_t maxTasksOfJob = kMaxTasks;
  // A point of priority more for each so long that a user's jobs of one priority have waited in vain: what is
  // of low priority starts at last, however much of higher priority keeps coming. 0: never. Ten minutes: half
  // of the range takes eight hours.
  Duration ageing = std::chrono::minutes(10);
  // After so long a job that waits for several units at once, a gang or tasks of several, has servers kept
  // for it: jobs behind it take those only where they are sure to end before it could start. A job's max_wait
  // comes before it. As long as agents wait for a good place.
  Duration reservationDelay = std::chrono::seconds(30);
  // A server on which so many launches in a row fail within the window, by its own fault, takes no new tasks
  // for a while; the next time twice as long, up to the longest. 0: never. Few enough to spare most tasks of
  // a job their attempts, more than a passing fault such as a full disk while a large task ends.
  uint32_t quarantineAfter = 5;
  Duration quarantineWindow = std::chrono::minutes(10);
  Duration quarantine = std::chrono::minutes(1);
  Duration longestQuarantine = std::chrono::hours(1);
  // Between two steps for a task that falls short of what its job expects (adjusting.h): long enough for one
  // to show.
  Duration adjustingPause = std::chrono::seconds(10);
  // A trouble that is over for so long has what was done for it undone; each time it comes back, twice as
  // long, up to an hour.
  Duration adjustingCalm = std::chrono::minutes(1);
  // A server is kept from new tasks for so long at most because a task on it is in trouble, and so many per
  // cent of the servers at once, at least one. 0 per cent: none ever.
  Duration maxAutoCordon = std::chrono::minutes(10);
  uint32_t maxAutoCordonedPercent = 10;
  // Bytes to be left free on the store's disk: below it new jobs are refused, so that what the running ones
  // still have to write finds room. 0: never. The log of recent writes and the files that RocksDB merges take
  // some 100 MiB.
  uint64_t diskReserve = uint64_t{256} << 20;
};

}  // namespace tarcil
