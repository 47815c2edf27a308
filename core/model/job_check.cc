#include "core/model/job_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "core/base/text.h"
#include "core/model/array.h"
#include "core/model/constraint.h"
#include "core/model/job_fields.h"
#include "core/model/job_size.h"
#include "core/model/result_files.h"
#include "core/model/task_secret.h"

namespace tarcil {
namespace {

using std::to_string;

using Problems = std::vector<JobProblem>;

void add(Problems& problems, std::string_view field, std::string text) {
  problems.push_back({std::string(field), std::move(text)});
}

bool hasNul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

template <typename Value>
bool holds(const auto& kind, const std::optional<Value>& value) {
  return !value || kind.holds(*value);
}
template <typename Value>
bool holds(const auto& kind, const Value& value) {
  return kind.holds(value);
}

std::string whatIsWrong(const auto& field, const JobSpec& job) {
  std::string what = "is out of range";
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field.kind)>, WholeNumber>) {
    what = "is " + to_string(field.of(job));
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field.kind)>, ImageName>) {
    return parseImage(field.of(job)).error().message;
  }
  return what + "; " + field.kind.remedy();
}

void checkTable(const JobSpec& job, Problems& problems) {
  forEachJobField([&](const auto& field) {
    if (field.isDefault(job) || holds(field.kind, field.of(job))) return;
    add(problems, field.path, whatIsWrong(field, job));
  });
}

void checkCommand(const JobSpec& job, Problems& problems) {
  const bool imageHasOne = job.command.empty() && !job.container.image.empty();
  if (!imageHasOne && (job.command.empty() || job.command.front().empty())) {
    add(problems, "command", std::string(kCommandMissing));
  }
  for (const std::string& word : job.command) {
    if (hasNul(word)) add(problems, "command", "has a NUL character in it; remove it");
  }
  for (const auto& [key, value] : job.env) {
    if (std::string problem = whyNotVariable(key); !problem.empty()) add(problems, "env." + key, problem);
    if (hasNul(value)) add(problems, "env." + key, "has a NUL character in it; remove it");
  }
  if (std::string problem = whyTooLong(job); !problem.empty()) add(problems, "command", problem);
}

void checkPressure(std::string_view field, const Pressure& pressure, Problems& problems) {
  for (size_t i = 0; i < kResources; ++i) {
    if (pressure[i] <= kMaxPressure) continue;
    add(problems, "profile." + std::string(field) + "." + std::string(kResourceNames[i]),
        "is " + to_string(pressure[i]) + "; write a whole number from 0 to " + to_string(kMaxPressure));
  }
}

void checkProfile(const Profile& profile, Problems& problems) {
  checkPressure("caused", profile.caused, problems);
  checkPressure("tolerated", profile.tolerated, problems);
  for (const auto& [platform, factor] : profile.platforms) {
    // Written so that a NaN fails it.
    if (factor > 0 && factor <= 1) continue;
    add(problems, "profile.platforms." + platform, "is out of range; write a number above 0 and at most 1");
  }
}

bool takes(Constraint::Operator op, size_t values) {
  switch (op) {
    case Constraint::Operator::kExists:
      return values == 0;
    case Constraint::Operator::kIn:
    case Constraint::Operator::kNotIn:
      return values >= 1;
    default:
      return values == 1;
  }
}

void checkCount(std::string_view field, size_t count, size_t most, Problems& problems) {
  if (count <= most) return;
  add(problems, field, "has " + to_string(count) + " entries; write at most " + to_string(most));
}

void checkConstraints(std::string_view field, const std::vector<Constraint>& constraints,
                      Problems& problems) {
  checkCount(field, constraints.size(), kMaxConstraints, problems);
  for (const Constraint& constraint : constraints) {
    if (constraint.attribute.empty()) {
      add(problems, field, "has one without an attribute; write, for example, rack = r1");
    } else if (!takes(constraint.op, constraint.values.size())) {
      add(problems, field, "has a wrong number of values for the operator on " + shown(constraint.attribute));
    } else if (constraint.values.size() > kMaxConstraintValues) {
      add(problems, field,
          "lists " + to_string(constraint.values.size()) + " values of " + shown(constraint.attribute) +
              "; write at most " + to_string(kMaxConstraintValues));
    }
  }
}

// Those that list servers or racks cost no look at all others, so there may be one for each task.
void checkRequirements(const Placement& placement, Problems& problems) {
  std::set<std::string> unnamed;
  for (const auto& [task, required] : placement.requireOfTask) {
    const std::string field = "placement.require." + to_string(task);
    if (required.empty()) add(problems, field, std::string(kRequiresNothing));
    checkConstraints(field, required, problems);
    if (listIn(required) == nullptr) unnamed.insert(describe(required));
  }
  if (unnamed.size() <= kMaxRequirements) return;
  add(problems, "placement.require",
      "has " + to_string(unnamed.size()) + " different conditions for single tasks; write at most " +
          to_string(kMaxRequirements) + ", or list servers or racks");
}

void checkPlacement(const JobSpec& job, Problems& problems) {
  const Placement& placement = job.placement;
  checkConstraints("placement.constraints", placement.constraints, problems);
  checkRequirements(placement, problems);
  checkCount("placement.prefer", placement.prefer.size(), kMaxPreferred, problems);
  for (const auto& [task, servers] : placement.preferOfTask) {
    const std::string field = "placement.prefer." + to_string(task);
    checkCount(field, servers.size(), kMaxPreferred, problems);
  }
}

void checkPerformance(const JobSpec& job, Problems& problems) {
  if (!job.performance) return;
  const PerformanceGoal& goal = *job.performance;
  if (!(goal.target >= 0 && std::isfinite(goal.target))) {
    add(problems, "performance.target", "is out of range; write a number above 0, or leave it out");
  }
  if (!(goal.deviation > 0 && goal.deviation < 1)) {
    add(problems, "performance.deviation",
        "is out of range; write a share above 0% and below 100%, for example 10%");
  }
  if (goal.window < Duration::zero() || goal.window > kMaxDuration) {
    add(problems, "performance.window", "is out of range; write a duration, for example 10s");
  }
}

void checkResults(const JobSpec& job, Problems& problems) {
  checkCount("results", job.results.size(), kMaxResultPatterns, problems);
  for (const std::string& pattern : job.results) {
    if (std::string problem = whyNotPattern(pattern); !problem.empty()) {
      add(problems, "results", shown(pattern) + " " + problem);
    }
  }
}

void checkSecrets(const JobSpec& job, Problems& problems) {
  checkCount("secrets", job.secrets.size(), kMaxSecretsOfJob, problems);
  for (const std::string& text : job.secrets) {
    if (std::string problem = whyNotSecret(text); !problem.empty())
      add(problems, "secrets", shown(text) + " " + problem);
  }
}

// Each is a file, whosever it is.
void checkSecretFiles(const JobSpec& job, Problems& problems) {
  std::set<std::string> files;
  for (const std::string& text : job.secrets) {
    if (files.insert(secretReference(text).name).second) continue;
    add(problems, "secrets",
        shown(text) + " is to be a file that another one is already; leave one of them out, or rename it");
  }
}

void checkImage(const JobSpec& job, Problems& problems) {
  const Container& container = job.container;
  if (container.imageDigest.empty()) return;
  if (container.image.empty() || !isImageDigest(container.imageDigest))
    add(problems, "container.image", "is kept to a digest that is none; leave that to the cluster");
}

void checkEarlier(const JobSpec& job, Problems& problems) {
  checkCount("earlier", job.earlier.size(), kMaxEarlier, problems);
  for (const auto& [platform, reached] : job.earlier) {
    if (reached > 0 && std::isfinite(reached)) continue;
    add(problems, "earlier", "is out of range; write a number above 0 for " + shown(platform));
  }
}

void checkSize(const JobSpec& job, Problems& problems) {
  const size_t bytes = sizeOf(job);
  if (bytes <= kMaxSpecBytes) return;
  const Placement& placement = job.placement;
  if (!job.items.empty()) {
    return add(problems, "items",
               "take " + to_string(bytes) + " bytes with the rest of the job, at most " +
                   formatSize(kMaxSpecBytes) + " are kept; split the list over several jobs");
  }
  const bool isPlacement = !placement.preferOfTask.empty() || !placement.requireOfTask.empty();
  const char* ofTasks = placement.preferOfTask.empty() ? "placement.require" : "placement.prefer";
  add(problems, isPlacement ? ofTasks : "job",
      "takes " + to_string(bytes) + " bytes with the rest of the job, at most " + formatSize(kMaxSpecBytes) +
          " are kept; " + (isPlacement ? "name fewer servers" : "put data into files"));
}

void checkLateBinding(const JobSpec& job, bool hasFiles, Problems& problems) {
  const auto refuse = [&problems](std::string_view field, std::string_view why) {
    add(problems, field, "a late-bound job " + std::string(why));
  };
  forEachJobField([&](const auto& field) {
    if (!field.notLateBound.empty() && !field.isDefault(job)) refuse(field.path, field.notLateBound);
  });
  if (!job.extras.empty()) refuse("extras", "cannot have any; use policy: quality");
  if (job.mostAtOnce() < job.tasks) refuse("concurrency", "has no bound; submit smaller jobs");
  if (job.performance) refuse("performance", "is not watched; use policy: quality");
  if (!job.results.empty()) refuse("results", "keeps no files; use policy: quality");
  if (!job.secrets.empty()) refuse("secrets", "gets none; use policy: quality");
  if (hasFiles) refuse("files", "ships no files; put them where the servers can read them");
}

Status firstOf(const Problems& problems) {
  if (problems.empty()) return {};
  return invalid(problems.front().field + ": " + problems.front().text);
}

}  // namespace

bool Title::holds(std::string_view value) const {
  return !value.empty() && characters(value) <= most && isPrintable(value);
}

bool OutputPath::holds(std::string_view value) const {
  if (!value.starts_with('/') || value.ends_with('/') || value.size() > kMaxCharacters) return false;
  return !hasNul(value) && (std::string(value) + '/').find("/../") == std::string::npos;
}

bool InputPath::holds(std::string_view value) const {
  return !value.empty() && !value.ends_with('/') && value.size() <= OutputPath::kMaxCharacters &&
         !hasNul(value);
}

Problems fieldProblems(const JobSpec& job) {
  Problems problems;
  checkTable(job, problems);
  checkCommand(job, problems);
  checkProfile(job.profile, problems);
  checkPlacement(job, problems);
  checkPerformance(job, problems);
  checkResults(job, problems);
  checkSecrets(job, problems);
  checkImage(job, problems);
  checkEarlier(job, problems);
  checkSize(job, problems);
  return problems;
}

Problems mismatches(const JobSpec& job, bool hasFiles) {
  Problems problems;
  if (job.schedule == Schedule::kGang && job.mostAtOnce() < job.tasks) {
    add(problems, "concurrency",
        "a gang starts all of its tasks at once; leave it out, or write schedule: incremental");
  }
  const Container& container = job.container;
  if (!container.rootfs.empty() && !container.bundle.empty()) {
    add(problems, "container.bundle", "names files of the task, and so does rootfs; leave one of them out");
  }
  if (!container.image.empty() && !(container.rootfs.empty() && container.bundle.empty())) {
    add(problems, "container.image",
        std::string("names files of the task, and so does ") +
            (container.rootfs.empty() ? "bundle" : "rootfs") + "; leave one of them out");
  }
  if (job.limits.networkBytesPerSecond != 0 && container.network != Container::Network::kOwn) {
    add(problems, "limits.network_bandwidth",
        "limits a network of the task's own; add container: {network: own}, or leave it out");
  }
  const Placement& placement = job.placement;
  if (placement.atMost != 1 && placement.spread.empty()) {
    add(problems, "placement.at_most",
        "counts tasks for each server or rack; add spread: server or spread: rack, or leave it out");
  }
  if (!placement.pack.empty() && placement.pack == placement.spread) {
    add(problems, "placement.pack", "contradicts spread: " + placement.pack + "; leave one of them out");
  }
  for (const auto& [task, servers] : placement.preferOfTask) {
    if (task < job.tasks) continue;
    add(problems, "placement.prefer." + to_string(task), noSuchTask(job));
  }
  for (const auto& [task, required] : placement.requireOfTask) {
    if (task < job.tasks) continue;
    add(problems, "placement.require." + to_string(task), noSuchTask(job));
  }
  if (std::string problem = whyNotItems(job); !problem.empty()) add(problems, "items", problem);
  for (const auto& [field, path] : {std::pair("output", &job.output), std::pair("error", &job.error)}) {
    if (std::string problem = whyNotOutput(job, *path); !problem.empty()) add(problems, field, problem);
  }
  if (std::string problem = whyNotApart(job); !problem.empty()) add(problems, "error", problem);
  if (std::string problem = whyNotInput(job); !problem.empty()) add(problems, "input", problem);
  if (!job.input.empty() && !container.bundle.empty()) {
    add(problems, "input",
        "does not reach what crun runs in a bundle; leave it out, or have the command read the file");
  }
  if (std::string problem = whyNotAfter(job, job.after.size(), job.after.each.has_value()); !problem.empty())
    add(problems, "after", problem);
  checkSecretFiles(job, problems);
  const bool isLate = job.policy == Policy::kLateBinding;
  if (!placement.pack.empty() && !isLate && job.policy != Policy::kQuality && job.policy != Policy::kGreedy) {
    add(problems, "placement.pack",
        "needs policy quality or greedy, the others do not look at it; leave one of them out");
  }
  if (job.adjust != Adjusting{} && !job.performance) {
    add(problems, "adjust",
        "is for tasks that perform below what the job expects, and nothing says what it expects; write "
        "performance: {metric: reported} too (docs/job-file.md), or leave this out");
  }
  if (hasFiles && !job.workdir.empty()) {
    add(problems, "files",
        "are shipped into each task's private working directory, which workdir replaces; leave workdir out, "
        "or leave files out and keep them in workdir on the servers");
  }
  if (!job.results.empty() && !job.workdir.empty()) {
    add(problems, "results",
        "are kept of each task's private working directory, which workdir replaces; leave workdir out, or "
        "leave "
        "results out: what is in workdir stays on the servers anyway");
  }
  if (isLate) {
    checkLateBinding(job, hasFiles, problems);
  } else if (job.atMostOnce) {
    add(problems, "at_most_once", "is for policy: late-binding; write that too, or leave this out");
  }
  return problems;
}

Problems fileProblems(const std::vector<InputFile>& files) {
  Problems problems;
  for (const InputFile& file : files) {
    if (!staysInside(file.path)) {
      add(problems, "files", shown(file.path) + " is not a path inside the job's directory");
    }
    if (file.mode > 0777)
      add(problems, "files", shown(file.path) + " has more than permission bits in its mode");
  }
  if (const size_t bytes = sizeOf(files); bytes > kMaxInputBytes) {
    add(problems, "files",
        "hold " + to_string(bytes) + " bytes in all, at most " + formatSize(kMaxInputBytes) +
            " are shipped; put large data where the servers can read it");
  }
  return problems;
}

Status checkJob(const JobSpec& job, bool hasFiles) {
  if (Status status = firstOf(fieldProblems(job)); !status) return status;
  return firstOf(mismatches(job, hasFiles));
}

Status checkJob(const JobSpec& job, const std::vector<InputFile>& files) {
  if (Status status = checkJob(job, !files.empty()); !status) return status;
  return checkFiles(files);
}

Status checkFiles(const std::vector<InputFile>& files) {
  return firstOf(fileProblems(files));
}

std::string noSuchTask(const JobSpec& job) {
  return "is for no task of this job; write an index from 0 to " + to_string(job.tasks - 1);
}

std::string whyNotAfter(const JobSpec& job, size_t others, bool hasEach) {
  if (others == 0) return "";
  if (job.policy == Policy::kLateBinding)
    return "a late-bound job is tried at once; submit it when the others are over, or write policy: quality";
  if (others > kMaxAfter)
    return "names " + to_string(others) + " jobs; write at most " + to_string(kMaxAfter);
  if (hasEach && job.schedule == Schedule::kGang)
    return "starts task by task, and a gang starts at once; write ok: in place of each:";
  return "";
}

std::string whyTooLong(const TaskSpec& task) {
  size_t bytes = 0;
  for (const std::string& word : task.command) bytes += word.size() + 1;
  for (const auto& [key, value] : task.env) bytes += key.size() + value.size() + 2;
  if (bytes <= kMaxCommandAndEnvBytes) return "";
  return "command and env hold " + to_string(bytes) + " bytes together, at most " +
         formatSize(kMaxCommandAndEnvBytes) + " are passed on; put data into files";
}

std::string whyNotVariable(std::string_view name) {
  if (name.empty() || name.find('=') != std::string_view::npos || hasNul(name)) {
    return "a variable's name is not empty and has no '=' and no NUL in it; rename it";
  }
  if (name == "TARCIL_TASK" || name == "TARCIL_TASKS" || name == kItemVariable ||
      name.starts_with(kExtraVariablePrefix)) {
    return "is set for every task by tarcil; choose another name";
  }
  return "";
}

std::string defaultJobName(const JobSpec& job, std::string_view otherwise) {
  const Title title{kMaxNameCharacters};
  if (!job.command.empty()) {
    const std::string_view path = job.command.front();
    const std::string_view program = path.substr(path.rfind('/') + 1);
    if (title.holds(program)) return std::string(program);
  }
  return title.holds(otherwise) ? std::string(otherwise) : "job";
}

}  // namespace tarcil
