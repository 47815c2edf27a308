#include "core/model/array.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/model/job_check.h"
#include "core/model/job_fields.h"

namespace tarcil {
namespace {

constexpr std::string_view kItem = "{item}", kIndex = "{index}", kAttempt = "{attempt}";

constexpr const char* kNoItems = "has {item}, and the job has no items; write {index} in its place";

using Filling = std::pair<std::string_view, std::string_view>;  // what stands for what

std::string filledIn(std::string_view text, std::initializer_list<Filling> fillings) {
  std::string filled;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto* const found =
        std::ranges::find_if(fillings, [rest](const Filling& each) { return rest.starts_with(each.first); });
    filled += found == fillings.end() ? rest.substr(0, 1) : found->second;
    at += found == fillings.end() ? 1 : found->first.size();
  }
  return filled;
}

std::string pathOf(const JobSpec& job, const std::string& path, TaskIndex index, uint32_t attempt) {
  const std::string_view item = index < job.items.size() ? std::string_view(job.items[index]) : kItem;
  return filledIn(path,
                  {{kItem, item}, {kIndex, std::to_string(index)}, {kAttempt, std::to_string(attempt)}});
}

// The longest of the items, which fills the most.
TaskIndex longest(const Items& items) {
  const auto& all = items.all();
  const auto byLength = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  return static_cast<TaskIndex>(std::max_element(all.begin(), all.end(), byLength) - all.begin());
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whatever stands around them, a path does not lead out of its folder.
bool leadsElsewhere(const std::string& item) {
  constexpr std::string_view kEdges = "./";
  return has(kEdges, item.substr(0, 1)) || has(kEdges, item.substr(item.size() - 1)) || has(item, "..") ||
         has(item, "//") || has(item, "/./");
}

// What is wrong with a path once it is filled in, for the task of which it is longest.
template <typename Kind>
std::string whyNotFilled(const JobSpec& job, const std::string& path, const Kind& kind) {
  constexpr uint32_t kLongestAttempt = std::numeric_limits<uint32_t>::max();
  const TaskIndex index = has(path, kItem) ? longest(job.items) : job.tasks - 1;
  if (kind.holds(pathOf(job, path, index, kLongestAttempt))) return "";
  return "is no path of a file for task " + std::to_string(index) + "; " + kind.remedy();
}

// What is wrong with items as parts of paths, which only they tell apart where they are `alone`.
std::string whyNotInPaths(const Items& items, bool alone) {
  std::unordered_map<std::string_view, TaskIndex> taskOf;
  for (TaskIndex index = 0; index < items.size(); ++index) {
    const std::string& item = items[index];
    const std::string task = std::to_string(index);
    if (item.empty() || leadsElsewhere(item))
      return "takes in the item of task " + task +
             ", which has .., // or /./ in it, or begins or ends with a dot or a slash; write {index} in "
             "place of "
             "{item}";
    const auto [other, isNew] = taskOf.try_emplace(item, index);
    if (!isNew && alone)
      return "is one file for tasks " + std::to_string(other->second) + " and " + task +
             ", whose items are the same; write {index} into it too";
  }
  return "";
}

// A path without its digits, and with one character, which no path has, for each place: what tells it from
// another one whatever numbers fill them.
constexpr std::string_view kItemMark = "\1", kIndexMark = "\2", kAttemptMark = "\3";

std::string skeletonOf(std::string_view path) {
  std::string skeleton = filledIn(path, {{kItem, kItemMark}, {kIndex, kIndexMark}, {kAttempt, kAttemptMark}});
  std::erase_if(skeleton, [](char c) { return '0' <= c && c <= '9'; });
  return skeleton;
}

bool isMark(char c) {
  return '\1' <= c && c <= '\3';
}

// Whether it can be told from a filled path what stands for the place of this mark in it: once at least what
// is beside it, but for digits, is fixed.
bool tellsWhat(std::string_view mark, std::string_view path) {
  const std::string skeleton = skeletonOf(path);
  for (size_t at = skeleton.find(mark); at != std::string::npos; at = skeleton.find(mark, at + 1)) {
    const bool isBesideMark =
        (at > 0 && isMark(skeleton[at - 1])) || (at + 1 < skeleton.size() && isMark(skeleton[at + 1]));
    if (!isBesideMark) return true;
  }
  return false;
}

// What is fixed at its beginning and its end. Requires: it has a place.
std::pair<std::string_view, std::string_view> ends(std::string_view path) {
  size_t begin = path.size(), end = 0;
  for (const std::string_view place : {kItem, kIndex, kAttempt}) {
    begin = std::min(begin, path.find(place));
    if (const size_t last = path.rfind(place); last != std::string_view::npos)
      end = std::max(end, last + place.size());
  }
  return {path.substr(0, begin), path.substr(end)};
}

// Whether no two paths that these are filled to can be one. Requires: they have places.
bool areApart(std::string_view one, std::string_view other) {
  if (!has(one, kItem) && !has(other, kItem)) {
    const auto withoutNumbers = [](std::string_view path) {
      std::string text = skeletonOf(path);
      std::erase_if(text, isMark);
      return text;
    };
    return withoutNumbers(one) != withoutNumbers(other);
  }
  const auto [head, tail] = ends(one);
  const auto [otherHead, otherTail] = ends(other);
  const bool sameHead = head.starts_with(otherHead) || otherHead.starts_with(head);
  const bool sameTail = tail.ends_with(otherTail) || otherTail.ends_with(tail);
  return !sameHead || !sameTail;
}

}  // namespace

TaskSpec specOfTask(const JobSpec& job, TaskIndex index, uint32_t attempt) {
  TaskSpec task = job;
  for (std::string* path : {&task.input, &task.output, &task.error})
    *path = pathOf(job, *path, index, attempt);
  if (index >= job.items.size()) return task;
  const std::string& item = job.items[index];
  const std::string number = std::to_string(index);
  const auto fill = [&](std::string& text) { text = filledIn(text, {{kItem, item}, {kIndex, number}}); };
  std::ranges::for_each(task.command, fill);
  for (auto& [name, value] : task.env) fill(value);
  fill(task.workdir);
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
  if (std::string problem = whyTooLong(specOfTask(job, index, 0)); !problem.empty())
    return "make the command of task " + std::to_string(index) + " too long: " + problem;
  return "";
}

std::string whyNotOutput(const JobSpec& job, const std::string& path) {
  if (path.empty()) return "";
  const bool hasItem = has(path, kItem), hasIndex = has(path, kIndex);
  if (hasItem && job.items.empty()) return kNoItems;
  if (job.tasks > 1 && !hasItem && !hasIndex)
    return "is one file for all " + std::to_string(job.tasks) +
           " tasks; write {index} where their names differ, for example /logs/sort-{index}.out";
  if (hasItem) {
    if (std::string problem = whyNotInPaths(job.items, !hasIndex); !problem.empty()) return problem;
  }
  if (job.tasks > 1 && !tellsWhat(hasIndex ? kIndexMark : kItemMark, path)) {
    return "has " + std::string(hasIndex ? kIndex : kItem) +
           " right beside another such name, so that tasks could share a file; write something other than"
           " digits between them, for example {item}-{index}";
  }
  return whyNotFilled(job, path, OutputPath{});
}

std::string whyNotApart(const JobSpec& job) {
  if (job.tasks == 1 || job.output.empty() || job.error.empty() || job.output == job.error) return "";
  if (areApart(job.output, job.error)) return "";
  return "could be the file that is another task's output; have the two begin or end differently, for "
         "example "
         "/logs/{index}.out and /logs/{index}.err, or write the same for both";
}

std::string whyNotInput(const JobSpec& job) {
  if (job.input.empty()) return "";
  if (has(job.input, kItem) && job.items.empty()) return kNoItems;
  return whyNotFilled(job, job.input, InputPath{});
}

}  // namespace tarcil
