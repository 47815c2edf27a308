#include "core/model/array.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/model/job_check.h"

namespace tarcil {
namespace {

// The longest of the items, which fills the most.
TaskIndex longest(const Items& items) {
  const auto& all = items.all();
  const auto byLength = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  return static_cast<TaskIndex>(std::max_element(all.begin(), all.end(), byLength) - all.begin());
}

}  // namespace

std::string filledIn(std::string_view text, std::string_view item, TaskIndex index) {
  constexpr std::string_view kItem = "{item}", kIndex = "{index}";
  std::string filled;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kItem)) {
      filled += item;
      at += kItem.size();
    } else if (rest.starts_with(kIndex)) {
      filled += std::to_string(index);
      at += kIndex.size();
    } else {
      filled += rest.front();
      ++at;
    }
  }
  return filled;
}

TaskSpec specOfTask(const JobSpec& job, TaskIndex index) {
  TaskSpec task = job;
  if (index >= job.items.size()) return task;
  const std::string& item = job.items[index];
  const auto fill = [&item, index](std::string& text) { text = filledIn(text, item, index); };
  std::ranges::for_each(task.command, fill);
  for (auto& [name, value] : task.env) fill(value);
  for (std::string* text : {&task.workdir, &task.output, &task.error}) fill(*text);
  task.env[std::string(kItemVariable)] = item;
  return task;
}

std::string whyNotItems(const JobSpec& job) {
  if (job.items.empty()) return "";
  if (job.items.size() != job.tasks) {
    return "are " + std::to_string(job.items.size()) + ", one for each task, and tasks is " +
           std::to_string(job.tasks) + "; leave tasks out";
  }
  if (job.policy == Policy::kLateBinding)
    return "are not for a late-bound job, whose tasks have one command; write policy: quality";
  for (size_t i = 0; i < job.items.size(); ++i) {
    const std::string& item = job.items[i];
    const std::string which = "has an item (number " + std::to_string(i) + ") ";
    if (item.empty()) return which + "that is empty; remove it";
    if (item.size() > kMaxItemBytes)
      return which + "of " + std::to_string(item.size()) + " bytes; write at most " +
             std::to_string(kMaxItemBytes);
    if (item.find('\0') != std::string::npos) return which + "with a NUL character in it; remove it";
  }
  const TaskIndex index = longest(job.items);
  if (std::string problem = whyTooLong(specOfTask(job, index)); !problem.empty())
    return "make the command of task " + std::to_string(index) + " too long: " + problem;
  return "";
}

}  // namespace tarcil
