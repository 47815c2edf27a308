// Jobs over an input list: what is different for each task (JobSpec::items).
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/model/job.h"

namespace tarcil {

// The variable that a task of such a job finds its item in.
inline constexpr std::string_view kItemVariable = "TARCIL_ITEM";
inline constexpr size_t kMaxItemBytes = 4'096;

// The text with `{item}` and `{index}` replaced; every other brace stays.
std::string filledIn(std::string_view text, std::string_view item, TaskIndex index);

// What the task runs: item and index are filled into command, values of env, workdir, output and error, and
// env has the item. Of a job without items as it is.
TaskSpec specOfTask(const JobSpec& job, TaskIndex index);

// What is wrong with the items of a job, for people; empty where nothing is.
std::string whyNotItems(const JobSpec& job);

}  // namespace tarcil
