// The job that `submit` and `plan` are given: FILE and --profile.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/job_file.h"

namespace tarcil {

struct SubmissionFlags {
  std::string file;
  std::string profile;
};

void addSubmissionFlags(CLI::App& command, SubmissionFlags& flags);

// The job, ready to be sent. Failure with kExitBadInput, which names every problem.
JobFile readSubmission(const SubmissionFlags& flags);

}  // namespace tarcil
