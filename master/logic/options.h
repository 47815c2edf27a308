// What an operator sets for a master process. Fixed while it runs.
#pragma once

#include <cstdint>

#include "core/base/time.h"
#include "core/model/job.h"
#include "lsh/admission.h"
#include "master/logic/people/vouching.h"

namespace tarcil {

struct MasterOptions {
  // How long an agent may be away before its jobs go to another one: long enough for a restart, short enough
  // that users hardly notice.
  Duration agentTimeout = std::chrono::seconds(3);
  // How long an agent may take to answer offers before other agents' jobs go on without it; it gets offers
  // again with its next sign of life. Far more than a batch of decisions takes.
  Duration offerTimeout = std::chrono::milliseconds(250);
  // How long a server's monitor may be away before the server's tasks are declared lost. Generous, since
  // tasks outlive their monitor.
  Duration serverTimeout = std::chrono::seconds(60);
  // How many finished jobs are kept for `job list` and `job status`, and for how long; older ones are erased.
  // A week of history, in memory that a small master has.
  uint32_t keepFinishedJobs = 10'000;
  Duration keepFinishedFor = std::chrono::days(7);
  // Unfinished jobs of one user and in all; further submissions are refused with "try again". Bounds the
  // master's memory, and keeps one user from shutting out the others.
  uint32_t maxUnfinishedOfUser = 20'000;
  uint32_t maxUnfinished = 100'000;
  // What unfinished jobs of one user and in all may take of the master's memory (bytesOf() in
  // jobs/job_table.h), with the same answer beyond. A million small tasks of a user; four users at their
  // bound.
  uint64_t maxUnfinishedBytesOfUser = uint64_t{512} << 20;
  uint64_t maxUnfinishedBytes = uint64_t{2} << 30;
  // What the input files of unfinished jobs of one user and in all may take of the store's disk, with the
  // same answer beyond. Sixteen jobs with as much as one may ship; four users at their bound.
  uint64_t maxFileBytesOfUser = uint64_t{1} << 30;
  uint64_t maxFileBytes = uint64_t{4} << 30;
  // What finished jobs may take; the oldest go first. But for one: who waits for the latest hears of its end.
  uint64_t keepFinishedBytes = uint64_t{1} << 30;
  // Input files of finished jobs that are not done, for these to be run again; of the oldest they go first.
  uint64_t keepFileBytes = uint64_t{256} << 20;
  // How long a server may be down before it is removed, as by an operator; counted from the master's start or
  // from when its tasks were lost. 0: never.
  Duration removeDownServersAfter = std::chrono::hours(24);
  // Tasks of one job, at most kMaxTasks; a job with more is refused. A lower value keeps jobs from flooding
  // the queue.
  uint32_t maxTasksOfJob = kMaxTasks;
  // Raise a waiting job's priority by 1 each interval in which its user's jobs of that priority got nothing,
  // so that low priorities do not starve. 0: never. At ten minutes half of the range takes eight hours.
  Duration ageing = std::chrono::minutes(10);
  // How long a job that needs several units at once (a gang, or tasks of several units) waits before servers
  // are reserved for it; jobs behind it may use them only if they are sure to end before it could start
  // (backfill). A job's max_wait overrides it. As long as agents wait for a good slot.
  Duration reservationDelay = std::chrono::seconds(30);
  // A server on which this many launches in a row fail within the window, by its own fault, is quarantined;
  // each further time twice as long, up to the longest. 0: never. Few enough that most tasks of a job keep
  // their attempts, more than a passing fault costs, such as a full disk while a large task ends.
  uint32_t quarantineAfter = 5;
  Duration quarantineWindow = std::chrono::minutes(10);
  Duration quarantine = std::chrono::minutes(1);
  Duration longestQuarantine = std::chrono::hours(1);
  // Between two steps for a task that performs below what its job expects (violation_handler.h): long enough
  // for a step to take effect.
  Duration adjustingPause = std::chrono::seconds(10);
  // How long a violation must be over before what was done for it is undone; twice as long each time that it
  // comes back, up to an hour.
  Duration adjustingCalm = std::chrono::minutes(1);
  // How long a server may be auto-cordoned for a degraded task on it, and how many per cent of the servers at
  // once, at least one. 0 per cent: none ever.
  Duration maxAutoCordon = std::chrono::minutes(10);
  uint32_t maxAutoCordonedPercent = 10;
  // How waits are estimated: buckets of like servers and their history, and how surely a predicted start
  // holds (lsh/bucket_index.h, lsh/admission.h say how each was chosen).
  BucketOptions buckets{};
  AdmissionOptions admission{.headroom = 0};
  // Free bytes on the store's disk below which new jobs are refused, so that what the running ones still have
  // to write fits. 0: never. The write-ahead log and the files that RocksDB compacts take some 100 MiB.
  uint64_t diskReserve = uint64_t{256} << 20;
  // Of the jobs that an agent is told as it attaches, in one message (message_size.h).
  size_t jobsMessageBytes = size_t{1} << 20;
  // Jobs that one event hands from overdue agents to others or releases at their time, or whose tasks it
  // loses with their servers; the rest comes with the next, since nobody is served meanwhile.
  size_t jobsAtOnce = 256;
  // Whose word counts for who a user is.
  master::Vouching vouching{};
  // Users who are no operators are not told whose the tasks are beside theirs: MasterLogic::hideOthers().
  bool hidesOthers = false;
  // Show what the store holds and change nothing (read_only.h).
  bool readOnly = false;
};

}  // namespace tarcil
