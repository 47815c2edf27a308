// The job file: what a user submits, read and checked in full before anything is sent (docs/job-file.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "formats/after_field.h"
#include "formats/parameters.h"
#include "formats/point_in_time.h"
#include "formats/problems.h"

namespace tarcil {

struct JobFileOptions {
  // Stands in for the file's own profile and for the lookup by application; from the command line.
  std::optional<Profile> profile;
  // Bounds of all input files together.
  uint64_t maxInputBytes = kMaxInputBytes;
  uint32_t maxInputFiles = 10'000;
  LocalClock clock = {};         // that its times are read by
  ChosenValues parameters = {};  // in place of the defaults of its `parameters`
  // Whether it may name files and profiles of this machine: not one that came from another.
  bool mayNameFiles = true;
};

struct JobFile {
  JobSpec spec;
  std::vector<InputFile> files;  // sorted by path
  NamedAfter after;              // jobs that it starts after; spec.after has what becomes of it
  // Name to look a stored profile up by; empty where the job has a profile or names no application.
  std::string lookupApplication;
  FilePosition lookupPlace;  // of that name in the file
  // For policy late-binding: the command of a process that runs many tasks (empty: each is its own), and the
  // reservations for each task (none: the agent's).
  std::vector<std::string> executor;
  std::optional<double> probeRatio;
  // Whether spec.profile came with the job. Otherwise it is the one that causes nothing and accepts
  // any place.
  bool hasProfile = false;
  bool isNamed = false;  // the file gives it a name; else it is that of its program, or of the file
};

// Reads the job file and the profile and input files that it names, all relative to its folder. Error:
// kInvalid, with one line "path:line:column: field: problem; remedy" for every problem, not only the first.
Result<JobFile> readJobFile(const std::string& path, const JobFileOptions& options);

// The same from text. `name` stands for the file in messages, `folder` is what other files are relative to.
Result<JobFile> parseJob(std::string_view text, const std::string& name, const std::string& folder,
                         const JobFileOptions& options);

// A row of docs/job-file.md for each field of the table (core/model/job_fields.h): path, meaning,
// values, default.
std::vector<std::string> jobFieldRows();

}  // namespace tarcil
