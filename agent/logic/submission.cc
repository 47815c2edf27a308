#include "agent/logic/submission.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

namespace tarcil::agent {
namespace {

using std::to_string;

Status within(const char* field, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return {};
  return invalid(std::string(field) + ": " + to_string(value) + " is not in " + to_string(least) + " to " +
                 to_string(most));
}

// Bounded, so that adding it to a clock's time cannot overflow.
Status isSpan(const char* field, Duration value) {
  constexpr Duration kMax = std::chrono::days(10 * 365);
  if (value >= Duration::zero() && value <= kMax) return {};
  return invalid(std::string(field) + ": write a time from 0 to ten years");
}

// Comparisons are written so that a NaN fails them.
Status isRatio(const std::string& field, double value) {
  if (value > 0 && value <= 1) return {};
  return invalid(field + ": write a number above 0 and at most 1");
}

Status checkSizes(const JobSpec& spec) {
  if (Status status = within("tasks", spec.tasks, 1, kMaxTasks); !status) return status;
  if (Status status = within("rus_per_task", spec.rusPerTask, 1, kMaxRusPerTask); !status) return status;
  if (Status status = within("priority", spec.priority, 0, kMaxPriority); !status) return status;
  if (Status status = isSpan("grace", spec.grace); !status) return status;
  if (Status status = isSpan("timeout", spec.timeout); !status) return status;
  return isSpan("restart.backoff", spec.restart.backoff);
}

Status checkQuality(const JobSpec& spec) {
  if (spec.maxWait) {
    if (Status status = isSpan("quality.max_wait", *spec.maxWait); !status) return status;
  }
  if (spec.target) {
    if (Status status = isRatio("quality.target", *spec.target); !status) return status;
  }
  if (spec.confidence && !(*spec.confidence > 0 && *spec.confidence < 1)) {
    return invalid("quality.confidence: write a number between 0 and 1, e.g. 0.999");
  }
  return {};
}

Status checkPerformance(const JobSpec& spec) {
  if (Status status = within("adjust.more_rus", spec.adjust.moreRus, 0, kMaxRusPerTask); !status)
    return status;
  if (!spec.performance) return {};
  if (!(spec.performance->target >= 0 && std::isfinite(spec.performance->target))) {
    return invalid("performance.target: write a number above 0, or leave it out");
  }
  if (!(spec.performance->deviation > 0 && spec.performance->deviation < 1)) {
    return invalid("performance.deviation: write a share between 0 and 1, e.g. 10%");
  }
  return isSpan("performance.window", spec.performance->window);
}

Status checkPressure(const char* field, const Pressure& pressure) {
  for (size_t i = 0; i < kResources; ++i) {
    if (pressure[i] > kMaxPressure) {
      return invalid(std::string("profile.") + field + "." + std::string(kResourceNames[i]) + ": " +
                     to_string(pressure[i]) + " is not in 0 to 99");
    }
  }
  return {};
}

Status checkProfile(const Profile& profile) {
  if (Status status = checkPressure("caused", profile.caused); !status) return status;
  if (Status status = checkPressure("tolerated", profile.tolerated); !status) return status;
  for (const auto& [platform, factor] : profile.platforms) {
    if (Status status = isRatio("profile.platforms." + platform, factor); !status) return status;
  }
  return {};
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

Status checkPlacement(const Placement& placement) {
  if (placement.spread != Spread::kNone && placement.atMost == 0) {
    return invalid("placement.at_most: 0 leaves no place for any task; write at least 1");
  }
  for (const Constraint& constraint : placement.constraints) {
    if (constraint.attribute.empty())
      return invalid("placement.constraints: a constraint names no attribute");
    if (!takes(constraint.op, constraint.values.size())) {
      return invalid("placement.constraints: wrong number of values for the operator on `" +
                     constraint.attribute + "`");
    }
  }
  return {};
}

bool hasNul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

Status checkCommand(const JobSpec& spec) {
  if (spec.command.empty() || spec.command.front().empty()) {
    return invalid("command: missing; name the program to run, e.g. [python3, train.py]");
  }
  size_t bytes = 0;
  for (const std::string& word : spec.command) {
    if (hasNul(word)) return invalid("command: a word holds a zero byte");
    bytes += word.size() + 1;
  }
  for (const auto& [key, value] : spec.env) {
    if (key.empty() || key.find('=') != std::string::npos || hasNul(key) || hasNul(value)) {
      return invalid("env: `" + key + "` cannot be an environment variable");
    }
    bytes += key.size() + value.size() + 2;
  }
  if (bytes > kMaxCommandBytes) {
    return invalid("command: with env it has " + to_string(bytes) + " bytes, more than " +
                   to_string(kMaxCommandBytes) + "; ship data in files");
  }
  if (!spec.workdir.empty() && (spec.workdir.front() != '/' || hasNul(spec.workdir))) {
    return invalid("workdir: write an absolute path, or leave it out for a private directory");
  }
  return {};
}

// Whether the path stays below the directory that it is taken relative to.
bool staysInside(std::string_view path) {
  if (path.empty() || hasNul(path)) return false;
  while (true) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Status checkFiles(const std::vector<InputFile>& files) {
  uint64_t bytes = 0;
  for (const InputFile& file : files) {
    if (!staysInside(file.path)) {
      return invalid("files: `" + file.path + "` is not a path inside the job's directory");
    }
    if (file.mode > 0777)
      return invalid("files: `" + file.path + "` has more than permission bits in its mode");
    bytes += file.path.size() + file.content.size();
  }
  if (bytes <= kMaxInputBytes) return {};
  return invalid("files: " + to_string(bytes) + " bytes in all, more than " + to_string(kMaxInputBytes) +
                 "; put large data where the servers can read it");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Status checkSubmission(const JobSpec& spec, const std::vector<InputFile>& files) {
  if (Status status = checkSizes(spec); !status) return status;
  if (Status status = checkQuality(spec); !status) return status;
  if (Status status = checkPerformance(spec); !status) return status;
  if (Status status = checkProfile(spec.profile); !status) return status;
  if (Status status = checkPlacement(spec.placement); !status) return status;
  if (Status status = checkCommand(spec); !status) return status;
  if (!files.empty() && !spec.workdir.empty()) {
    return invalid("files: they are shipped into the private directory that workdir replaces; leave one out");
  }
  return checkFiles(files);
}

Result<std::string> runAsFor(const JobSpec& spec, const Caller& caller) {
  if (caller.runAs.empty()) {
    return denied("user: the token of " + caller.user +
                  " may not run jobs as any system user; ask the operator");
  }
  if (spec.user.empty()) return caller.runAs.front();
  if (std::ranges::find(caller.runAs, spec.user) != caller.runAs.end()) return spec.user;
  return denied("user: " + caller.user + " may not run jobs as `" + spec.user + "`, only as " +
                listed(caller.runAs));
}

}  // namespace tarcil::agent
