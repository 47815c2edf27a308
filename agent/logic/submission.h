// What an agent checks of a submission that it must not trust, before anything is made of it. Clients check
// the same earlier, and name file and line; an agent says field and remedy.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "core/state/caller.h"

namespace tarcil::agent {

// Longest command and environment together, in bytes: what exec accepts on Linux, halved.
inline constexpr size_t kMaxCommandBytes = 1 << 20;

// kInvalid, naming the field, where a value is out of its range, the command is missing or input files are
// too large or would leave the working directory. O(size of both).
Status checkSubmission(const JobSpec& spec, const std::vector<InputFile>& files);

// The system user that the job's tasks run as: the one asked for, else the caller's default. kDenied, naming
// the users that the caller may choose from, where it is none of these.
Result<std::string> runAsFor(const JobSpec& spec, const Caller& caller);

}  // namespace tarcil::agent
