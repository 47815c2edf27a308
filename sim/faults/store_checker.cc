#include "sim/faults/store_checker.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/model/constraint.h"

namespace tarcil::sim {
namespace {

std::string inWords(AllocationId allocation) {
  return "allocation " + std::to_string(allocation);
}

std::set<std::string> thingsOf(const TaskRecord& record) {
  std::set<std::string> things;
  for (const RuIndex ru : record.rus) things.insert("unit " + std::to_string(ru));
  for (const auto& [kind, numbers] : record.extras) {
    for (const uint16_t number : numbers) things.insert(kind + " " + std::to_string(number));
  }
  return things;
}

}  // namespace

void StoreChecker::wrong(const TaskRecord& record, const std::string& what) {
  world_.violated("task " + std::to_string(record.index) + " of job " + toString(record.job).substr(0, 8) +
                  ": " + what);
}

std::optional<RunState> StoreChecker::stateOf(const JobId& job) const {
  if (const auto found = now_.jobs.find(job); found != now_.jobs.end()) return found->second.state;
  if (const auto found = now_.erased.find(job); found != now_.erased.end()) return found->second;
  return std::nullopt;
}

bool StoreChecker::isCordoned(const std::string& server) const {
  const auto found = now_.servers.find(server);
  return found != now_.servers.end() && found->second.cordoned;
}

// --- What the master sees and decides ----------------------------------------------------------------------

void StoreChecker::masterStarts(const MasterLogic& logic, const MasterOptions& options, MonotonicTime now) {
  options_ = options;
  givenUp_.clear();
  down_.clear();
  for (const ServerView& server : logic.servers()) {
    if (now_.servers.at(server.facts.name).removed) {
      world_.violated("server " + server.facts.name + " was removed, and a new master does not know");
    }
    down_[server.facts.name] = now;
    if (isCordoned(server.facts.name) && !server.status.cordoned) {
      world_.violated("server " + server.facts.name + " was cordoned, and a new master does not know");
    }
  }
}

void StoreChecker::decided(const Mutation& mutation, MonotonicTime now) {
  const auto* put = std::get_if<Put>(&mutation);
  const auto* record = put == nullptr ? nullptr : std::get_if<TaskRecord>(&put->record);
  if (record == nullptr || isActive(record->state) || record->end.cause != EndCause::kLost) return;
  if (!givenUp_.insert(record->allocation).second || isOver(*record)) return;
  const TaskChecker::Seen* seen = tasks_.find(record->allocation);
  if (const auto down = down_.find(record->server); down != down_.end()) {
    if (now - down->second < options_.serverTimeout)
      wrong(*record, "is given up before its server's timeout is over");
    return;
  }
  if (seen == nullptr || seen->isGone || seen->isForgotten || seen->isOfBefore) return;
  if (!seen->end) {
    wrong(*record,
          "is given up though it runs, as " + inWords(record->allocation) + ", and its server is up");
  } else if (seen->end->cause != EndCause::kLost) {
    wrong(*record, "counts as lost, and its monitor knows how it ended");
  }
}

// A record of it may be written again, as when its job is run again.
bool StoreChecker::isOver(const TaskRecord& record) const {
  const auto job = now_.jobs.find(record.job);
  if (job == now_.jobs.end()) return false;
  const auto task = job->second.tasks.find(record.index);
  return task != job->second.tasks.end() && task->second.allocation == record.allocation &&
         !isActive(task->second.state);
}

// --- What is on the disk -----------------------------------------------------------------------------------

void StoreChecker::stored(std::span<const Mutation> batch) {
  for (const Mutation& mutation : batch) std::visit([this](const auto& one) { take(one); }, mutation);
  for (const JobId& id : touched_) {
    const auto found = now_.jobs.find(id);
    if (found == now_.jobs.end() || !isFinal(found->second.state)) continue;
    const Job& job = found->second;
    const bool isOver = (job.cancelRequested || job.tasks.size() == job.record.spec.tasks) &&
                        std::ranges::all_of(job.tasks, [](const auto& t) { return isFinal(t.second.state); });
    if (!isOver) world_.violated("job " + toString(id).substr(0, 8) + " is over, and its tasks are not");
  }
  touched_.clear();
  if (!granted_.empty()) latest_ = std::max(latest_, *granted_.rbegin());
  granted_.clear();
}

void StoreChecker::take(const Put& mutation) {
  std::visit([this](const auto& record) { put(record); }, mutation.record);
}

void StoreChecker::take(const EraseJob& erase) {
  const auto found = now_.jobs.find(erase.job);
  if (found == now_.jobs.end()) return;
  if (!isFinal(found->second.state)) {
    world_.violated("job " + toString(erase.job).substr(0, 8) + " is erased, and is not over");
  }
  now_.erased[erase.job] = found->second.state;
  now_.jobs.erase(found);
}

void StoreChecker::put(const JobRecord& record) {
  const auto [job, isNew] = now_.jobs.try_emplace(record.id, Job{.record = record});
  if (isNew) {
    if (record.number <= now_.latestNumber) {
      world_.violated("a job has the number " + std::to_string(record.number) + " after one with " +
                      std::to_string(now_.latestNumber));
    }
    now_.latestNumber = record.number;
    if (!record.cron.empty()) checkCronJob(record);
    return checkBounds(record);
  }
  // Its user may give it another priority, and the cluster another profile of its application, where that is
  // not the user's own; nothing else.
  JobRecord before = std::exchange(job->second.record, record);
  before.spec.priority = record.spec.priority;
  if (record.spec.after == After{}) before.spec.after = {};  // released before its time
  if (before.spec.profileLookedUp) {
    const std::string application = std::exchange(before.spec.profile, record.spec.profile).application;
    before.spec.profile.application = application;
    before.profileReplaced = record.profileReplaced;
  }
  if (before != record) world_.violated("job " + toString(record.id).substr(0, 8) + " is made twice");
}

// --- Crons

namespace {

// The schedules here are those of the simulation: "*/N * * * *", each hour's minutes that N divides.
int64_t minutesBetween(const Cron& cron) {
  return std::stoll(cron.spec.schedule.substr(2));
}

bool isPlanned(const Cron& cron, WallTime time) {
  const auto minute = std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count();
  return minute % 60 % minutesBetween(cron) == 0;
}

// Whether the record says what became of the time.
bool accountsFor(const Cron& cron, WallTime time) {
  return cron.pending == time || std::ranges::any_of(cron.runs, [time](const CronRun& run) {
           if (run.isByHand) return false;
           return run.planned == time || (run.planned <= time && time < run.before);
         });
}

}  // namespace

std::vector<JobId> StoreChecker::unfinishedCronJobs() const {
  std::vector<JobId> unfinished;
  for (const auto& [id, job] : now_.jobs) {
    if (!job.record.cron.empty() && !isFinal(job.state)) unfinished.push_back(id);
  }
  return unfinished;
}

void StoreChecker::checkCronJob(const JobRecord& record) {
  const std::string what = "job " + toString(record.id).substr(0, 8) + " of cron " + record.cron;
  const auto cron = now_.crons.find({record.user, record.cron});
  if (cron == now_.crons.end()) return world_.violated(what + " is made, and there is no such cron");
  if (cron->second.isHeld) world_.violated(what + " is made, and the cron is held");
  if (record.planned == kNever) return;
  if (!isPlanned(cron->second, record.planned))
    world_.violated(what + " is made for a time that is not planned");
  if (!now_.cronTimes.emplace(record.user, record.cron, record.planned).second)
    world_.violated(what + " is the second one for its time");
}

// Of every time that was taken up since the record before, and of the one that was pending then, the record
// says what became.
void StoreChecker::checkTakenUp(const Cron& before, const Cron& record) {
  const auto lost = [this, &record](WallTime time, const char* how) {
    world_.violated("cron " + record.spec.name + ": " + how + " at " + formatTime(time) + " is lost");
  };
  if (record.takenUp < before.takenUp) world_.violated("cron " + record.spec.name + " goes back in time");
  if (before.pending != kNever && !accountsFor(record, before.pending))
    lost(before.pending, "what was pending");
  if (before.isHeld) return;  // its times pass
  using std::chrono::minutes;
  for (WallTime time = std::chrono::floor<minutes>(before.takenUp) + minutes(1); time <= record.takenUp;
       time += minutes(1)) {
    if (isPlanned(record, time) && !accountsFor(record, time)) lost(time, "the time");
  }
}

void StoreChecker::put(const Cron& record) {
  const auto [cron, isNew] = now_.crons.try_emplace({record.user, record.spec.name}, record);
  if (isNew) return;
  checkTakenUp(cron->second, record);
  cron->second = record;
}

void StoreChecker::checkBounds(const JobRecord& record) {
  uint32_t ofUser = 0, ofAll = 0;
  for (const auto& [id, job] : now_.jobs) {
    if (isFinal(job.state)) continue;
    ++ofAll;
    if (job.record.user == record.user) ++ofUser;
  }
  if (ofUser <= options_.maxUnfinishedOfUser && ofAll <= options_.maxUnfinished &&
      record.spec.tasks <= options_.maxTasksOfJob) {
    return;
  }
  world_.violated("job " + toString(record.id).substr(0, 8) + " is taken beyond the bounds");
}

void StoreChecker::put(const JobProgress& record) {
  Job& job = now_.jobs.at(record.id);
  const bool isRerun = isFinal(job.state) && !isFinal(record.state);
  if (isFinal(job.state) && record.state != job.state && !mayLeave(record.id, job.state, record.state)) {
    world_.violated("job " + toString(record.id).substr(0, 8) + " was " + std::string(name(job.state)) +
                    " and is " + std::string(name(record.state)));
  }
  if (job.cancelRequested && !record.cancelRequested && !isRerun) {
    world_.violated("job " + toString(record.id).substr(0, 8) + " is not to be cancelled any more");
  }
  job.state = record.state;
  job.cancelRequested = record.cancelRequested;
  if (record.heldForJobs) job.isLetGo = false;
  touched_.insert(record.id);
}

void StoreChecker::put(const Usage& record) {
  Usage& before = now_.usage[record.user];
  if (record.ruMicroseconds < before.ruMicroseconds || record.attempts < before.attempts ||
      record.done < before.done) {
    world_.violated("the usage of " + record.user + " fell");
  }
  before = record;
}

void StoreChecker::put(const TaskRecord& record) {
  Job& job = now_.jobs.at(record.job);
  Task& task = job.tasks[record.index];
  touched_.insert(record.job);
  const bool wasActive = isActive(task.state);
  if (isFinal(task.state) && record.state != task.state && !mayLeave(record.job, task.state, record.state)) {
    wrong(record, "was " + std::string(name(task.state)) + " and is " + std::string(name(record.state)));
  }
  if (isActive(record.state)) {
    if (wasActive && record.allocation != task.allocation) {
      checkReplaced(record, task);
      released(record, task);
    }
    if (!isActive(task.state) || record.allocation != task.allocation) placed(job, record, task);
    if (thingsOf(record) != task.things) hold(record, task);  // it got a unit, or gave one back
    if (task.state == RunState::kRunning && record.state == RunState::kStarting) {
      wrong(record, "was running and is starting");
    }
  } else if (wasActive) {
    checkEnd(record, task);
    released(record, task);
  }
  task.state = record.state;
  task.stopping = record.stopping;
}

void StoreChecker::placed(Job& job, const TaskRecord& record, Task& task) {
  if (record.state != RunState::kStarting) wrong(record, "runs, and was not starting before");
  const bool isNew = record.allocation > latest_ && granted_.insert(record.allocation).second;
  if (!isNew) wrong(record, inWords(record.allocation) + " is not a new one");
  task.allocation = record.allocation;
  task.server = record.server;
  if (const auto server = now_.servers.find(record.server); server != now_.servers.end()) {
    task.domain = attributeOf(server->second.facts, job.record.spec.placement.spread).value_or("");
  }
  hold(record, task);
  now_.held[record.allocation] = {record.job, record.index};
  task.state = record.state;
  checkPlace(job, record);
  job.isLetGo = true;
}

void StoreChecker::hold(const TaskRecord& record, Task& task) {
  auto& owners = now_.owners[record.server];
  const std::set<std::string> things = thingsOf(record);
  for (const std::string& thing : task.things) {
    if (!things.contains(thing)) owners.erase(thing);
  }
  for (const std::string& thing : things) {
    const auto [owner, isNew] = owners.emplace(thing, record.allocation);
    if (isNew || owner->second == record.allocation) continue;
    wrong(record,
          thing + " of " + record.server + " is granted, and " + inWords(owner->second) + " holds it");
  }
  task.things = things;
}

void StoreChecker::released(const TaskRecord& record, Task& task) {
  auto& owners = now_.owners[task.server];
  for (const std::string& thing : task.things) {
    if (const auto owner = owners.find(thing); owner != owners.end() && owner->second == task.allocation) {
      owners.erase(owner);
    }
  }
  now_.held.erase(task.allocation);
  task.things.clear();
  task.state = record.state;
}

void StoreChecker::put(const ServerRecord& record) {
  const std::string& name = record.facts.name;
  if (record.removed && !now_.owners[name].empty())
    world_.violated("server " + name + " is removed, and tasks hold units of it");
  now_.servers[name] = record;
}

bool StoreChecker::mayLeave(const JobId& job, RunState before, RunState state) const {
  return rerun_.contains(job) && before != RunState::kDone && state == RunState::kQueued;
}

// What it starts after is over, and as it should be, when it starts: what has started does not wait for a job
// that is run again. Of a job that was erased and then made again by a
// repeated submission, the first one counted.
void StoreChecker::checkAfter(const Job& job, const TaskRecord& record) {
  const After& after = job.record.spec.after;
  const auto check = [&](const JobId& id, const std::string& how, auto isMet) {
    if (job.isLetGo) return;
    const std::optional<RunState> state = now_.erased.contains(id) ? std::nullopt : stateOf(id);
    if (state && !isMet(*state))
      wrong(record, "is placed, and job " + toString(id).substr(0, 8) + " is not " + how);
  };
  for (const JobId& id : after.ok) check(id, "done", [](RunState state) { return state == RunState::kDone; });
  for (const JobId& id : after.any) check(id, "over", isFinal);
  for (const JobId& id : after.failed)
    check(id, "over without being done", [](RunState s) { return isFinal(s) && s != RunState::kDone; });
  if (!after.each || !now_.jobs.contains(*after.each) || now_.erased.contains(*after.each)) return;
  const auto& tasks = now_.jobs.at(*after.each).tasks;
  const auto task = tasks.find(record.index);
  if (task == tasks.end() || task->second.state != RunState::kDone)
    wrong(record, "is placed before the task of the same index that it starts after is done");
}

void StoreChecker::checkPlace(const Job& job, const TaskRecord& record) {
  const JobSpec& spec = job.record.spec;
  if (job.cancelRequested) wrong(record, "is placed, and its job is cancelled");
  checkAfter(job, record);
  const auto server = now_.servers.find(record.server);
  if (server == now_.servers.end()) return wrong(record, "is placed on a server that is not stored");
  if (server->second.cordoned) wrong(record, "is placed on " + record.server + ", which is cordoned");
  if (server->second.removed) wrong(record, "is placed on " + record.server + ", which is removed");
  const auto attributes = constraintAttributes(server->second.facts);
  for (const Constraint& constraint : spec.placement.constraints) {
    if (!meets(constraint, attributes)) wrong(record, "is placed where not " + describe(constraint));
  }
  if (const std::vector<Constraint>* required = spec.requirementOf(record.index)) {
    if (!meets(server->second.facts, *required)) wrong(record, "is placed where not " + describe(*required));
  }
  uint32_t active = 0, beside = 0;
  for (const auto& [index, task] : job.tasks) {
    if (!isActive(task.state)) continue;
    ++active;
    if (task.domain == attributeOf(server->second.facts, spec.placement.spread).value_or("")) ++beside;
  }
  if (active > spec.mostAtOnce()) wrong(record, "is one too many at a time");
  if (!spec.placement.spread.empty() && beside > spec.placement.atMost) {
    wrong(record, "is placed beside too many others of its job");
  }
}

// A task that is moved to units that wait for it elsewhere ends and starts in one step.
void StoreChecker::checkReplaced(const TaskRecord& record, const Task& before) {
  const TaskChecker::Seen* seen = tasks_.find(before.allocation);
  const bool hasEnded = seen != nullptr && (seen->end || seen->isGone);
  if (!before.stopping || !hasEnded) {
    wrong(record, "is placed again while it is " + std::string(name(before.state)));
  }
}

void StoreChecker::checkEnd(const TaskRecord& record, const Task& before) {
  const TaskEnd& end = record.end;
  const TaskChecker::Seen* seen = tasks_.find(before.allocation);
  const bool hasEnded = seen != nullptr && seen->end.has_value();
  switch (end.cause) {
    case EndCause::kExited:
      if (!hasEnded || seen->end->exitCode != end.exitCode || seen->end->signal != end.signal) {
        wrong(record, inWords(before.allocation) + " did not end so");
      }
      return;
    case EndCause::kTimedOut:
      if (!hasEnded || seen->spec.timeout == Duration::zero()) wrong(record, "has not timed out");
      return;
    case EndCause::kCancelled:
      // What was asked for after the backup was taken, the store does not know any more.
      if (!before.stopping && !heldByBackup_.contains(before.allocation) &&
          !(seen != nullptr && seen->isShutDown)) {
        wrong(record, "was stopped, and nobody asked for it");
      }
      if (seen != nullptr && !seen->end && !seen->isGone) wrong(record, "counts as stopped, and runs");
      return;
    case EndCause::kNeverStarted:
    case EndCause::kLost:  // see decided()
      return;
  }
}

void StoreChecker::forgottenByMonitor(AllocationId allocation) {
  const TaskChecker::Seen* seen = tasks_.find(allocation);
  if (seen == nullptr || !seen->end || seen->isGone || seen->isOfBefore) return;
  if (now_.held.contains(allocation)) {
    world_.violated("the monitor has forgotten how " + inWords(allocation) +
                    " ended, and the master does not know");
  }
}

}  // namespace tarcil::sim
