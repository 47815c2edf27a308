// The job that `submit` and `plan` are given: FILE, and what is laid over it.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "formats/job_file.h"

namespace tarcil {

struct SubmissionFlags {
  std::string file;
  std::string profile;
  std::string startAfter;
  std::vector<std::string> parameters;  // NAME=VALUE
  std::string name;
  std::optional<uint8_t> priority;
  std::optional<uint32_t> tasks;
  bool hold = false;
  std::string after;
  bool holdUnmet = false;
};

// FILE, and what the job is.
void addJobFlags(CLI::App& command, SubmissionFlags& flags);
// That, and what it waits for.
void addSubmissionFlags(CLI::App& command, SubmissionFlags& flags);

// The job; where it names an application and has no profile, that is still to be found (addStoredProfile).
// Failure with kExitBadInput, which names every problem.
JobFile readSubmission(const SubmissionFlags& flags);

// Makes a job that names its application, from this file, ready to be sent: takes the profile that the
// cluster keeps under that name; where none is kept, and the operator has such applications measured, one
// that is assumed (Profile::isAssumed). Where its performance is watched without a target, takes too what can
// be expected after earlier runs of the application. Leaves the profile that it has. Failure with
// kExitBadInput where there is neither, also for tasks that an executor runs, which nobody could measure.
void addStoredProfile(Cluster& cluster, const std::string& file, JobFile& job);

}  // namespace tarcil
