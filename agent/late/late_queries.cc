// What users ask an agent of its late-bound jobs.
#include <algorithm>

#include "agent/late/late_binding.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

// In one answer.
constexpr size_t kMaxJobsTold = 10'000;
constexpr size_t kMaxTasksTold = 5'000;

Error noJob(const JobId& id) {
  return notFound("there is no late-bound job " + toString(id) + " here");
}

struct Filter {
  explicit Filter(wire::JobFilter::Reader from)
      : user(text(from.getUser())), name(text(from.getName())), since(wallTime(from.getSince())) {
    for (const wire::RunState state : from.getStates()) states.insert(fromWire(state));
  }
  bool passes(const LateHeld& job, RunState state) const {
    return (user.empty() || job.user == user) && job.spec.name.find(name) != std::string::npos &&
           (states.empty() || states.contains(state)) && (since == kNever || job.submitted >= since);
  }

  const std::string user, name;
  std::set<RunState> states;
  const WallTime since;
};

}  // namespace

const LateHeld* LateBindingAgent::find(const Caller& caller, const JobId& id) const {
  const LateHeld* job = jobs_.find(id);
  return job != nullptr && maySteer(caller, job->user) ? job : nullptr;
}

LateProgress LateBindingAgent::progressOf(const LateHeld& job) const {
  return tarcil::progressOf(job, job.isOver() ? 0 : scheduler_.waiting(job.number));
}

Status LateBindingAgent::describe(const Caller& caller, const JobId& id, uint32_t firstOver,
                                  wire::LateJobDetails::Builder to) const {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return noJob(id);
  to.setId(bytesOf(job->id));
  to.setNumber(job->clusterNumber);
  tarcil::write(job->spec, to.initSpec());
  to.setUser(text(job->user));
  to.setSubmitted(toWire(job->submitted));
  to.setFinished(toWire(job->finished));
  const size_t first = std::min<size_t>(firstOver, job->over.size());
  const size_t end = std::min(first + kMaxTasksTold, job->over.size());
  auto over = to.initOver(static_cast<uint32_t>(end - first));
  for (uint32_t i = 0; i < over.size(); ++i) {
    const auto& [task, server] = job->over[first + i];
    tarcil::write(task, job->numberOf(task.task), server, over[i]);
  }
  if (end < job->over.size()) to.setNextOver(static_cast<uint32_t>(end));
  return {};
}

void LateBindingAgent::list(const Caller& caller, uint32_t limit, wire::JobFilter::Reader filter,
                            wire::ClientPort::LateJobsResults::Builder to) const {
  const Filter wanted(filter);
  std::vector<std::pair<const LateHeld*, LateProgress>> found;
  for (const LateHeld* job : jobs_.all()) {
    if (found.size() == std::min<size_t>(limit, kMaxJobsTold)) break;
    if (!maySteer(caller, job->user)) continue;
    const LateProgress progress = progressOf(*job);
    if (wanted.passes(*job, progress.state)) found.emplace_back(job, progress);
  }
  auto list = to.initJobs(static_cast<uint32_t>(found.size()));
  for (uint32_t i = 0; i < found.size(); ++i) {
    const auto& [job, progress] = found[i];
    list[i].setId(bytesOf(job->id));
    list[i].setNumber(job->clusterNumber);
    list[i].setName(text(job->spec.name));
    list[i].setUser(text(job->user));
    list[i].setState(toWire(progress.state));
    list[i].setTasks(static_cast<uint32_t>(job->size()));
    list[i].setQueued(progress.queued);
    list[i].setActive(progress.active);
    list[i].setSucceeded(progress.succeeded);
    list[i].setFailed(progress.failed);
    list[i].setSubmitted(toWire(job->submitted));
    list[i].setFinished(toWire(job->finished));
  }
}

LateBindingAgent::Found LateBindingAgent::foundAtOnce(const Caller& caller, const std::string& prefix,
                                                      JobNumber number) const {
  Found found;
  for (const LateHeld* job : jobs_.all()) {
    if (found.size() == 2) break;
    const bool isMeant = number > 0 ? job->clusterNumber == number : toString(job->id).starts_with(prefix);
    if (isMeant && maySteer(caller, job->user)) found.emplace(job->id, job->clusterNumber);
  }
  return found;
}

kj::Promise<LateBindingAgent::Found> LateBindingAgent::find(const Caller& caller, const std::string& prefix,
                                                            JobNumber number) {
  return numbers_.settled().then(
      [this, caller, prefix, number]() { return foundAtOnce(caller, prefix, number); });
}

Result<RunState> LateBindingAgent::cancel(const Caller& caller, const JobId& id) {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return noJob(id);
  const RunState before = progressOf(*job).state;
  if (!job->isOver()) {
    scheduler_.cancel(job->number, actions_);
    carryOut();
  }
  return before;
}

kj::Promise<RunState> LateBindingAgent::untilOver(const Caller& caller, const JobId& id) {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return toException(noJob(id));
  if (job->isOver()) return progressOf(*job).state;
  return over_.wait({job->number, std::nullopt}).then([this, caller, id]() { return untilOver(caller, id); });
}

kj::Promise<LateBindingAgent::OutputLocation> LateBindingAgent::outputLocation(const Caller& caller,
                                                                               const JobId& id,
                                                                               TaskIndex task, bool wait) {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return toException(noJob(id));
  for (const auto& [over, name] : job->over) {
    if (job->numberOf(over.task) != task) continue;
    if (over.lease == 0) return OutputLocation{"", "", 0, true};
    const LateServer* server = servers_.find(name);
    if (server == nullptr)
      return toException(notFound("server " + name + ", which has the output, is not there"));
    return OutputLocation{server->name, server->address, over.lease, true};
  }
  if (!wait || job->isOver()) return OutputLocation{"", "", 0, job->isOver()};
  auto over = over_.wait({job->number, std::nullopt});
  // Of a task that the job does not have, nothing but the job's end would be heard.
  if (job->has(task)) over = over.exclusiveJoin(over_.wait({job->number, task}));
  return over.then([this, caller, id, task]() { return outputLocation(caller, id, task, true); });
}

}  // namespace tarcil
