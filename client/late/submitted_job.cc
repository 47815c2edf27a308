#include "client/late/submitted_job.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/model/constraint.h"
#include "core/model/job_check.h"

namespace tarcil {
namespace {

std::vector<Constraint> requirement(const std::string& field, const std::vector<std::string>& entries) {
  std::vector<Constraint> required;
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    auto condition = conditionIn(entry);
    if (!condition) throw std::invalid_argument(field + ": " + condition.error().message);
    if (*condition) {
      required.push_back(std::move(**condition));
    } else {
      names.push_back(entry);
    }
  }
  if (!names.empty()) required.push_back(onServers(std::move(names)));
  return required;
}

void setPlacement(Placement& placement, const LateBindingJob& job) {
  for (const std::string& text : job.constraints) {
    auto constraint = parseConstraint(text);
    if (!constraint) throw std::invalid_argument("constraints: " + constraint.error().message);
    placement.constraints.push_back(std::move(*constraint));
  }
  std::ranges::move(requirement("servers.require", job.servers.require),
                    std::back_inserter(placement.constraints));
  placement.prefer = job.servers.prefer;
  for (const auto& [task, servers] : job.serversOfTask) {
    const std::string field = "serversOfTask[" + std::to_string(task) + "].require";
    if (!servers.require.empty()) placement.requireOfTask[task] = requirement(field, servers.require);
    if (!servers.prefer.empty()) placement.preferOfTask[task] = servers.prefer;
  }
}

// `usual` where nothing is said of a resource.
Pressure pressureOf(const std::string& field, const std::map<std::string, int>& byResource, uint8_t usual) {
  Pressure pressure;
  pressure.fill(usual);
  for (const auto& [name, value] : byResource) {
    const auto resource = std::ranges::find(kResourceNames, name);
    if (resource == kResourceNames.end() || value < 0 || value > kMaxPressure) {
      throw std::invalid_argument(field + "." + name +
                                  ": write a resource (docs/job-file.md) with a number from 0 to " +
                                  std::to_string(kMaxPressure));
    }
    pressure[static_cast<size_t>(resource - kResourceNames.begin())] = static_cast<uint8_t>(value);
  }
  return pressure;
}

}  // namespace

LateClientJob lateClientJob(const LateBindingJob& job) {
  LateClientJob made;
  if (::getrandom(made.id.bytes.data(), made.id.bytes.size(), 0) < 0) std::abort();
  JobSpec& spec = made.spec;
  spec.policy = Policy::kLateBinding;
  spec.name = job.name;
  spec.command = job.command.empty() ? job.executor : job.command;
  spec.env = job.environment;
  spec.tasks = job.tasks;
  spec.priority = job.priority;
  spec.atMostOnce = job.atMostOnce;
  spec.timeout = job.timeout;
  setPlacement(spec.placement, job);
  spec.profile.caused = pressureOf("caused", job.caused, 0);
  spec.profile.tolerated = pressureOf("tolerated", job.tolerated, kMaxPressure);
  if (spec.command.empty()) throw std::invalid_argument("command: missing; name the program to run");
  if (job.tasks < 1 || job.tasks > kMaxTasks)
    throw std::invalid_argument("tasks: write a number from 1 to 100000");
  if (job.priority > 100) throw std::invalid_argument("priority: write a number from 0 to 100");
  if (!job.descriptions.empty() && (job.executor.empty() || job.descriptions.size() != job.tasks)) {
    throw std::invalid_argument("descriptions: write one for each task, and an executor that reads them");
  }
  if (const Status good = checkJob(spec, false); !good) throw std::invalid_argument(good.error().message);
  if (job.probeRatio != 0) made.probeRatio = job.probeRatio;
  made.executor = job.executor;
  made.descriptions = job.descriptions;
  return made;
}

}  // namespace tarcil
