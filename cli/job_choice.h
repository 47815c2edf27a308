// Which jobs a command is for: those that are named, or all that are alike.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/job_listing.h"

namespace tarcil {

struct JobChoiceFlags {
  std::vector<std::string> jobs;  // cli/job_reference.h
  JobFilterFlags filter;
  bool all = false;
};
// JOB..., --state, --user, --name, --since, --all.
void addJobChoice(CLI::App& command, JobChoiceFlags& flags);

// Those that are named, all of them found before anything is done to the first; or those that pass the
// filter, newest first, where it names no state those in one of `states`. There may be none of these, which
// is said. Throws Failure: with kExitBadInput where no job is chosen in either way, or in both; as
// Cluster::job.
std::vector<FoundJob> chosenJobs(Cluster& cluster, const JobChoiceFlags& flags,
                                 std::span<const RunState> states);

// States of jobs that are not over, and of those that did not end well.
inline constexpr std::array kUnfinished{RunState::kQueued, RunState::kStarting, RunState::kRunning};
inline constexpr std::array kEndedBadly{RunState::kFailed, RunState::kCancelled, RunState::kLost};

}  // namespace tarcil
