// What is different for each task of a job: its item of an input list (JobSpec::items), its index, and the
// files of its standard streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/model/job.h"

namespace tarcil {

// The variable that a task of a job with items finds its own in.
inline constexpr std::string_view kItemVariable = "TARCIL_ITEM";
inline constexpr size_t kMaxItemBytes = 4'096;

// What one attempt of the task runs. Of a job with items `{item}` and `{index}` are filled into command,
// values of env and workdir, and env has the item. `{index}`, `{attempt}` and, where there is one, `{item}`
// are filled into input, output and error of every job. Every other brace stays, and so do those of the item.
TaskSpec specOfTask(const JobSpec& job, TaskIndex index, uint32_t attempt);

// What is wrong with the items of a job, for people; empty where nothing is.
std::string whyNotItems(const JobSpec& job);

// The same of `path`, its output or error: where tasks would share a file, or an item makes a path that none
// can have. O(size of the items).
std::string whyNotOutput(const JobSpec& job, const std::string& path);

// The same of its error beside its output: where a task could write one to the file that is the other of
// another task.
std::string whyNotApart(const JobSpec& job);

// The same of the job's input, which tasks may share.
std::string whyNotInput(const JobSpec& job);

}  // namespace tarcil
