// What users ask an agent of its late-bound jobs.
#include "agent/late/late_binding.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

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

Status LateBindingAgent::describe(const Caller& caller, const JobId& id,
                                  wire::LateJobDetails::Builder to) const {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return noJob(id);
  to.setId(bytesOf(job->id));
  tarcil::write(job->spec, to.initSpec());
  to.setUser(text(job->user));
  to.setSubmitted(toWire(job->submitted));
  to.setFinished(toWire(job->finished));
  auto over = to.initOver(static_cast<uint32_t>(job->over.size()));
  for (uint32_t i = 0; i < job->over.size(); ++i) {
    const auto& [task, server] = job->over[i];
    tarcil::write(task, job->numberOf(task.task), server, over[i]);
  }
  return {};
}

void LateBindingAgent::list(const Caller& caller, uint32_t limit, wire::JobFilter::Reader filter,
                            wire::ClientPort::LateJobsResults::Builder to) const {
  const Filter wanted(filter);
  std::vector<std::pair<const LateHeld*, LateProgress>> found;
  for (const LateHeld* job : jobs_.all()) {
    if (found.size() == limit) break;
    if (!maySteer(caller, job->user)) continue;
    const LateProgress progress = progressOf(*job);
    if (wanted.passes(*job, progress.state)) found.emplace_back(job, progress);
  }
  auto list = to.initJobs(static_cast<uint32_t>(found.size()));
  for (uint32_t i = 0; i < found.size(); ++i) {
    const auto& [job, progress] = found[i];
    list[i].setId(bytesOf(job->id));
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

std::vector<JobId> LateBindingAgent::withPrefix(const Caller& caller, const std::string& prefix) const {
  std::vector<JobId> ids;
  for (const LateHeld* job : jobs_.all()) {
    if (ids.size() == 2) break;
    const bool isNew = ids.empty() || ids.front() != job->id;
    if (isNew && maySteer(caller, job->user) && toString(job->id).starts_with(prefix)) ids.push_back(job->id);
  }
  return ids;
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
  return untilOver(*job, std::nullopt).then([this, caller, id]() { return untilOver(caller, id); });
}

kj::Promise<LateBindingAgent::OutputLocation> LateBindingAgent::outputLocation(const Caller& caller,
                                                                               const JobId& id,
                                                                               TaskIndex task, bool wait) {
  const LateHeld* job = find(caller, id);
  if (job == nullptr) return toException(noJob(id));
  if (!job->executor.empty()) {
    return toException(
        invalid("its tasks are run by an executor, and have no output of their own; let the executor write it"
                " to a file"));
  }
  for (const auto& [over, name] : job->over) {
    if (job->numberOf(over.task) != task) continue;
    if (over.lease == 0) return OutputLocation{"", 0, true};
    const LateServer* server = servers_.find(name);
    if (server == nullptr)
      return toException(notFound("server " + name + ", which has the output, is not there"));
    return OutputLocation{server->address, over.lease, true};
  }
  if (!wait || job->isOver()) return OutputLocation{"", 0, job->isOver()};
  return untilOver(*job, task).then([this, caller, id, task]() {
    return outputLocation(caller, id, task, true);
  });
}

kj::Promise<void> LateBindingAgent::untilOver(const LateHeld& job, std::optional<TaskIndex> task) {
  auto paf = kj::newPromiseAndFulfiller<void>();
  waiters_.emplace(job.number, Waiter{task, kj::mv(paf.fulfiller)});
  return kj::mv(paf.promise);
}

void LateBindingAgent::tellWaiters(late::JobNumber job, std::optional<TaskIndex> task) {
  auto [waiter, end] = waiters_.equal_range(job);
  while (waiter != end) {
    const bool isHis = !task || waiter->second.task == task;
    if (isHis) waiter->second.over->fulfill();
    waiter = isHis ? waiters_.erase(waiter) : std::next(waiter);
  }
}

}  // namespace tarcil
