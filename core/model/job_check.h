// Whether a job can be taken: the one check that clients make before they send a job, agents before they do
// anything for it, and the master before it keeps it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

// `field` is a path of the job file ("limits.memory", "files"); `text` says what is wrong and what to
// write instead.
struct JobProblem {
  std::string field;
  std::string text;

  bool operator==(const JobProblem&) const = default;
};

// What is wrong with single fields: values out of their bounds. O(size of the job).
std::vector<JobProblem> fieldProblems(const JobSpec& job);

// What does not go together, also with the files that are shipped with the job.
std::vector<JobProblem> mismatches(const JobSpec& job, bool hasFiles);

// Paths, modes and sizes of the files that are shipped with a job.
std::vector<JobProblem> fileProblems(const std::vector<InputFile>& files);

// All three as one error: kInvalid, "field: text; remedy", of the first that is found.
Status checkJob(const JobSpec& job, const std::vector<InputFile>& files);
// For whoever has seen the files, or does not have them.
Status checkJob(const JobSpec& job, bool hasFiles);
// Of files alone.
Status checkFiles(const std::vector<InputFile>& files);

inline constexpr std::string_view kCommandMissing =
    "is missing; write the program and its arguments, for example command: [sleep, 5]";

inline constexpr std::string_view kRequiresNothing =
    "requires nothing; name a server or a condition, or leave it out";

// What is wrong with an index in placement.prefer or placement.require that the job has no task for.
std::string noSuchTask(const JobSpec& job);

// Why command and env are more than a server's system passes on; empty where they are not.
// Why a job cannot start after so many others, task by task after one of them where `hasEach`; empty where it
// can.
std::string whyNotAfter(const JobSpec& job, size_t others, bool hasEach);

std::string whyTooLong(const TaskSpec& task);

// A variable that tarcil sets for every task, or one that no environment can have; nothing where it is fine.
std::string whyNotVariable(std::string_view name);

// What a job is called whose file says nothing: its program's name; where that is no good name, `otherwise`,
// and "job" where that is none either.
std::string defaultJobName(const JobSpec& job, std::string_view otherwise);

}  // namespace tarcil
