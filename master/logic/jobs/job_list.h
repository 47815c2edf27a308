// Which jobs a caller asks to see, and a page of them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/state/caller.h"
#include "core/state/job_state.h"

namespace tarcil {

struct JobSummary {
  JobId id;
  JobNumber number = 0;
  std::string name, user, reason;
  RunState state = RunState::kQueued;
  uint32_t tasks = 0;
  uint32_t queued = 0, active = 0, succeeded = 0, failed = 0;  // tasks; active: starting or running
  WallTime submitted = kNever, finished = kNever;
};

// A position in the order of submission. The job that had it may be gone.
struct JobPosition {
  WallTime submitted = kNever;
  JobId id;

  bool operator==(const JobPosition&) const = default;
};

struct JobQuery {
  size_t limit = 100;
  std::string user{};           // submitted by; empty: every user whose jobs the caller may steer
  std::string name{};           // part of the job's name
  std::set<RunState> states{};  // in one of them; empty: any
  WallTime since = kNever;      // submitted then or later
  std::optional<JobPosition> after{};
};

// A job that could use more slots than it has.
struct WaitingJob {
  JobSummary summary;
  JobSpec spec;
  uint8_t liftedPriority = 0;  // its priority after ageing
  uint32_t ahead = 0;          // jobs that come before it
  uint64_t unitsAhead = 0;     // units that they could use
  uint64_t slotsAhead = 0;     // slots of its size that they are likely to get first
  uint32_t slots = 0;          // that it needs to start: a gang all at once, others one
};

struct JobPage {
  std::vector<JobSummary> jobs;  // newest first
  std::optional<JobPosition>
      next;  // where the next page begins; there may be more even where `jobs` is empty
};

// Bounds of one answer: jobs listed, and jobs examined.
inline constexpr size_t kMaxJobsAPage = 1'000;
inline constexpr size_t kMaxJobsLookedAt = 2'000;

}  // namespace tarcil
