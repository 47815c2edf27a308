// States of jobs and tasks, as users see them, and the shared record of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/job.h"
#include "core/model/launch.h"
#include "core/state/explain.h"
#include "core/state/server.h"

namespace tarcil {

enum class RunState : uint8_t { kQueued, kStarting, kRunning, kDone, kFailed, kCancelled, kLost };

std::string_view name(RunState state);  // "queued", "starting", ...
std::optional<RunState> runStateNamed(std::string_view name);
inline bool isFinal(RunState state) {
  return state >= RunState::kDone;
}
// Has an allocation, and units of a server with it.
inline bool isActive(RunState state) {
  return state == RunState::kStarting || state == RunState::kRunning;
}

// What is written when a job is accepted, and when its priority or its profile changes.
struct JobRecord {
  JobId id;
  JobSpec spec;
  std::string user;   // who submitted
  std::string runAs;  // system user that its tasks run as; decided at submission
  bool hasFiles = false;
  WallTime submitted = kNever;
  WallTime profileReplaced = kNever;  // by what was learned since; kNever: it is as submitted
  uint64_t fileBytes = 0;             // of its input files, by sizeOf(); 0 where an earlier version took it
  uint32_t filePieces = 0;            // that were there before the job; 0: its files came with it, as one
  JobNumber number = 0;               // given by the master as it accepts the job
  std::string cron{};                 // of its user, that it was made for (core/state/cron.h); empty: of none
  WallTime planned = kNever;          // the time that the cron made it for; kNever: a user had it made

  bool operator==(const JobRecord&) const = default;
};

// What changes while a job lives.
struct JobProgress {
  JobId id;
  RunState state = RunState::kQueued;
  std::string reason;            // why it waits or how it failed; for people
  std::string owner;             // name of the agent that places it
  bool cancelRequested = false;  // no task starts any more; those without a record are cancelled
  uint32_t decisions = 0;        // decisions stored so far
  WallTime finished = kNever;
  bool held = false;            // no further task of it starts until it is released
  WallTime heldUntil = kNever;  // released by itself then; kNever: by a user only
  bool heldForJobs = false;  // held until the jobs have ended that it is to start after (core/model/after.h)
  bool keepsFiles = false;   // it has ended, and its input files are kept for it to be run again

  bool operator==(const JobProgress&) const = default;
};

// Decisions stored per job; tasks placed by later ones carry kNoDecision.
inline constexpr uint32_t kMaxDecisions = 64;
inline constexpr uint32_t kNoDecision = UINT32_MAX;

// One task. A task without a stored record is queued at attempt 0, or was cancelled with its job.
// An attempt of a task that was followed by another one.
struct EarlierAttempt {
  uint32_t attempt = 0;
  AllocationId allocation = 0;
  std::string server;

  bool operator==(const EarlierAttempt&) const = default;
};

// That a task remembers.
inline constexpr size_t kMostEarlierAttempts = 5;

struct TaskRecord {
  JobId job;
  TaskIndex index = 0;
  RunState state = RunState::kQueued;
  uint32_t attempt = 0;         // starts so far that count against restart.attempts, and lost ones
  uint32_t failures = 0;        // ended attempts that count against restart.attempts
  uint32_t excused = 0;         // attempts that a server could not start by its own fault, and do not count
  AllocationId allocation = 0;  // while starting or running; afterwards the last one
  std::string server;           // of that allocation
  std::vector<RuIndex> rus;
  ExtraNumbers extras{};
  double q = 0, s = 0;     // as judged when it was placed
  uint32_t decision = 0;   // number of the decision that placed it, from 0; kNoDecision: none is kept
  bool stopping = false;   // a stop was asked of its monitor
  bool moving = false;     // ... so that it goes elsewhere: the attempt does not count
  std::string movedFor{};  // why, for people
  WallTime placed = kNever;
  TaskEnd end;  // of the last attempt that ended; while one runs, only `started` is set, and is its
  std::string previous{};                 // how the attempt before this one ended; empty for the first
  std::vector<EarlierAttempt> earlier{};  // the last kMostEarlierAttempts, oldest first
  Duration mayRunFor{};  // how long that one may have run on, of an exclusive job; counts anew at each start

  bool operator==(const TaskRecord&) const = default;
};

// The explanation of one decision and the tasks it placed.
struct DecisionRecord {
  JobId job;
  uint32_t number = 0;
  std::vector<TaskIndex> tasks;
  Explanation explanation;

  bool operator==(const DecisionRecord&) const = default;
};

// A task as its agent needs it. Absolute: replaces whatever the agent held of that task.
struct TaskAssignment {
  TaskIndex index = 0;
  uint32_t attempt = 0;
  RunState state = RunState::kQueued;  // final states tell the agent to forget the task
  Duration delay{};                    // queued: not to be placed before this much time has passed
  AllocationId allocation = 0;         // starting, running
  ServerId server = 0;
  std::vector<RuIndex> rus{};
  ExtraNumbers extras{};

  bool operator==(const TaskAssignment&) const = default;
};

// Tasks of successive numbers, both ends included.
struct TaskRange {
  TaskIndex first = 0, last = 0;

  bool operator==(const TaskRange&) const = default;
};

// A job handed to an agent, or news of one that it has. Absolute for the tasks listed.
struct JobAssignment {
  JobRecord job;
  bool complete = false;  // lists every unfinished task: others are finished
  bool over = false;      // the job has ended or belongs to another agent: forget it
  std::vector<TaskAssignment> tasks;
  // Wait to be placed for the first time, but for what `tasks` says of them.
  std::vector<TaskRange> waiting{};

  bool operator==(const JobAssignment&) const = default;
};

// Calls `visit` with the index of each task in `waiting` that the job has.
template <typename Visit>
void forEachWaiting(const JobAssignment& assignment, Visit visit) {
  for (const TaskRange& range : assignment.waiting) {
    for (TaskIndex task = range.first; task <= range.last && task < assignment.job.spec.tasks; ++task) {
      visit(task);
    }
  }
}

}  // namespace tarcil
