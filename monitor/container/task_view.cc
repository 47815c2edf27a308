#include "monitor/container/task_view.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/text.h"
#include "monitor/container/root_policy.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

// What users write to on most machines: their own files, data of services, files that outlive a task.
constexpr const char* kShared[] = {"/home", "/srv", "/var/tmp"};

// What is not there is left out.
std::vector<std::string> canonical(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code problem;
    const fs::path real = fs::canonical(path, problem);
    if (!problem) found.push_back(real.string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (const std::string& path : found) {
    const auto covers = [&path](const std::string& other) { return isBelow(path, other); };
    if (std::none_of(result.begin(), result.end(), covers)) result.push_back(path);
  }
  return result;
}

Status checkPath(const std::string& path) {
  if (!path.starts_with('/')) return invalid(shown(path) + " is no path that starts with /");
  std::error_code problem;
  const fs::path real = fs::canonical(path, problem);
  if (problem) return invalid(shown(path) + " cannot be found on this machine: " + problem.message());
  for (const char* own : {"/", "/proc", "/sys", "/dev"}) {
    if (real == own) return invalid(shown(path) + " each task has one of its own for; write what is in it");
  }
  return {};
}

}  // namespace

TaskView taskViewOf(const ContainerOptions& options) {
  std::vector<std::string> shares(std::begin(kShared), std::end(kShared)), hidden = options.hidden;
  shares.insert(shares.end(), options.shares.begin(), options.shares.end());
  hidden.push_back(options.dataDirectory);
  TaskView view{canonical(shares), canonical(hidden), {}};
  for (const std::string& path : view.shares) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !(S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))) continue;
    view.devices.push_back({S_ISBLK(status.st_mode), major(status.st_rdev), minor(status.st_rdev)});
  }
  return view;
}

Status checkViewPaths(const std::vector<std::string>& paths) {
  if (paths.size() > kMaxViewOptions) {
    return invalid("is there more than " + std::to_string(kMaxViewOptions) +
                   " times; name a folder that holds several of them");
  }
  for (const std::string& path : paths) {
    if (Status good = checkPath(path); !good.ok()) return good;
  }
  return {};
}

}  // namespace tarcil
