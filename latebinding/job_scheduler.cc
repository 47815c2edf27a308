#include "latebinding/job_scheduler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace tarcil::late {
namespace {

using State = HeldTask::State;

// ceil(ratio * tasks), but for what floating point adds.
uint64_t reservationsFor(double ratio, uint64_t tasks) {
  return static_cast<uint64_t>(std::ceil(ratio * static_cast<double>(tasks) - 1e-9));
}

// Some server has it.
bool isAway(const HeldTask& task) {
  return task.state == State::kGiven || task.state == State::kRunning;
}

bool isOfLower(const Eligible& one, ServerId server) {
  return one.server < server;
}

}  // namespace

void SchedulerActions::clear() {
  reserves.clear();
  cancels.clear();
  gives.clear();
  forgets.clear();
  stops.clear();
  looks.clear();
  tasksOver.clear();
  jobsOver.clear();
}

// --- Keeping jobs

HeldJob* JobScheduler::find(JobNumber number) {
  const uint32_t position = static_cast<uint32_t>(number);
  if (position >= jobs_.size()) return nullptr;
  HeldJob& job = jobs_[position];
  return job.isOpen && job.number == number ? &job : nullptr;
}

HeldJob& JobScheduler::keep(LateJob&& spec, MonotonicTime now) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(jobs_.size()));
    jobs_.emplace_back().number = free_.back();
  }
  HeldJob& job = jobs_[free_.back()];
  free_.pop_back();
  job.number += uint64_t{1} << 32;
  job.isOpen = true;
  job.isCancelled = false;
  job.ratio = spec.probeRatio.value_or(ratio_.ratio());
  job.spec = std::move(spec);
  job.tasks.assign(job.spec.tasks, HeldTask{.since = now});
  job.probes.clear();
  job.returned.clear();
  job.eligible.clear();
  job.lengths.clear();
  job.answers = 0;
  job.fresh = 0;
  job.waiting = job.notOver = job.spec.tasks;
  job.outstanding = 0;
  job.pause = options_.repeat;
  for (TaskIndex task = 0; job.isConstrained() && task < job.spec.tasks; ++task) {
    for (ServerId server : job.spec.serversOfTasks[task]) job.eligible.push_back({server, task});
  }
  std::sort(job.eligible.begin(), job.eligible.end(), [](const Eligible& a, const Eligible& b) {
    return std::pair(a.server, a.task) < std::pair(b.server, b.task);
  });
  setAlarm(job, now + job.pause);
  return job;
}

void JobScheduler::setAlarm(const HeldJob& job, MonotonicTime at) {
  alarms_.push_back({at, job.number});
  std::push_heap(alarms_.begin(), alarms_.end(), std::greater<>());
}

void JobScheduler::closeIfOver(HeldJob& job, SchedulerActions& actions) {
  if (job.notOver > 0) return;
  actions.jobsOver.push_back({job.number});
  job.isOpen = false;
  free_.push_back(static_cast<uint32_t>(job.number));
}

Result<JobNumber> JobScheduler::submit(LateJob spec, MonotonicTime now, Rng& rng, SchedulerActions& actions) {
  const auto unavailable = [](const std::string& what) {
    return Error{ErrorCode::kUnavailable,
                 what + ": no server that may run it is up; wait for one, or change its constraints"};
  };
  for (size_t task = 0; task < spec.serversOfTasks.size(); ++task) {
    if (spec.serversOfTasks[task].empty()) return unavailable("task " + std::to_string(task));
  }
  if (spec.serversOfTasks.empty() && groups_.size(spec.group) == 0) return unavailable("the job");
  HeldJob& job = keep(std::move(spec), now);
  makeGood(job, rng, actions);
  return job.number;
}

void JobScheduler::cancel(JobNumber number, SchedulerActions& actions) {
  HeldJob* job = find(number);
  if (job == nullptr) return;
  job->isCancelled = true;
  cancelOutstanding(*job, actions);
  stopTasks(*job, actions);
  for (TaskIndex task = 0; task < job->tasks.size(); ++task) {
    if (job->tasks[task].state == State::kWaiting) end(*job, task, Outcome::kCancelled, actions);
  }
  closeIfOver(*job, actions);
}

// Those that a server has.
void JobScheduler::stopTasks(const HeldJob& job, SchedulerActions& actions) {
  for (const HeldTask& task : job.tasks) {
    if (!isAway(task) || task.lease == 0) continue;
    actions.stops.push_back({agent_, job.probes[task.probe].server, task.lease});
  }
}

void JobScheduler::end(HeldJob& job, TaskIndex index, Outcome outcome, SchedulerActions& actions,
                       const Ended* ended) {
  HeldTask& task = job.tasks[index];
  if (task.state == State::kWaiting) --job.waiting;
  task.state = State::kOver;
  --job.notOver;
  TaskOver over{.job = job.number, .task = index, .outcome = outcome, .attempts = task.attempts};
  if (task.attempts > 0) over.server = job.probes[task.probe].server;
  if (ended != nullptr) {
    over.code = ended->code;
    over.lease = ended->lease;
    // The Ask was on its way for half of a round trip.
    const Duration reserve = std::max(Duration(0), task.reserve - ended->getTask / 2);
    over.phases = {reserve, ended->queue, ended->getTask, ended->service};
  }
  actions.tasksOver.push_back(over);
}

// --- Reservations

Reserve JobScheduler::reserveOf(const HeldJob& job, ProbeIndex probe) const {
  return {.agent = agent_,
          .server = job.probes[probe].server,
          .job = job.number,
          .probe = probe,
          .count = job.probes[probe].left,
          .user = job.spec.user,
          .shares = job.spec.shares,
          .priority = job.spec.priority,
          .bearing = job.spec.bearing};
}

void JobScheduler::reserve(HeldJob& job, ServerId server, uint32_t count, SchedulerActions& actions) {
  job.probes.push_back({.server = server, .left = count});
  job.outstanding += count;
  ratio_.noteProbes(count);
  actions.reserves.push_back(reserveOf(job, static_cast<ProbeIndex>(job.probes.size() - 1)));
}

// Brings the reservations up to what the tasks that wait should have.
void JobScheduler::probe(HeldJob& job, Rng& rng, SchedulerActions& actions) {
  if (job.isConstrained()) {
    picks_.clear();
    for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
      if (job.tasks[task].state == State::kWaiting) probeTask(job, task, rng);
    }
    return sendPicks(job, actions);
  }
  const uint64_t wanted = reservationsFor(job.ratio, job.waiting);
  if (wanted <= job.outstanding) return;
  const uint64_t missing = wanted - job.outstanding;
  const auto servers = groups_.sample(job.spec.group, missing, rng);
  for (size_t i = 0; i < servers.size(); ++i) {
    const uint64_t count = missing / servers.size() + (i < missing % servers.size() ? 1 : 0);
    reserve(job, servers[i], static_cast<uint32_t>(count), actions);
  }
}

// Draws servers of the task's own, unless a reservation is out at one of them.
void JobScheduler::probeTask(HeldJob& job, TaskIndex task, Rng& rng) {
  own_.clear();
  for (ServerId server : job.spec.serversOfTasks[task]) {
    const bool isOut = std::any_of(job.probes.begin(), job.probes.end(), [server](const Probe& probe) {
      return probe.server == server && probe.left > 0;
    });
    if (isOut) return;
    if (groups_.isUp(server)) own_.push_back(server);
  }
  // Fractions of d add up over the tasks.
  const uint64_t wanted = reservationsFor(job.ratio, task + 1) - reservationsFor(job.ratio, task);
  for (size_t i = 0; i < std::min<size_t>(wanted, own_.size()); ++i) {
    std::swap(own_[i], own_[i + rng.below(own_.size() - i)]);
    picks_.push_back(own_[i]);
    auto pair = std::lower_bound(job.eligible.begin(), job.eligible.end(), own_[i], isOfLower);
    while (pair->task != task) ++pair;
    pair->drew = true;
  }
}

void JobScheduler::sendPicks(HeldJob& job, SchedulerActions& actions) {
  std::sort(picks_.begin(), picks_.end());
  for (auto from = picks_.begin(); from != picks_.end();) {
    const auto to = std::upper_bound(from, picks_.end(), *from);
    reserve(job, *from, static_cast<uint32_t>(to - from), actions);
    from = to;
  }
}

void JobScheduler::cancelOutstanding(HeldJob& job, SchedulerActions& actions) {
  if (job.outstanding == 0) return;
  for (ProbeIndex i = 0; i < job.probes.size(); ++i) {
    Probe& probe = job.probes[i];
    if (probe.left > 0 && options_.cancel) actions.cancels.push_back({agent_, probe.server, job.number, i});
    probe.left = 0;
  }
  job.outstanding = 0;
}

// --- Giving tasks away

void JobScheduler::handle(const Ask& message, MonotonicTime now, SchedulerActions& actions) {
  HeldJob* job = find(message.job);
  const auto answer = [&](TaskIndex task) {
    actions.gives.push_back({agent_, message.server, message.job, message.lease, task});
  };
  if (job == nullptr || message.probe >= job->probes.size()) return answer(kNoTask);
  Probe& probe = job->probes[message.probe];
  if (message.lease > probe.lastLease) {
    probe.lastLease = message.lease;
    ratio_.noteAsk(message.queued);
  } else {
    // It asked before, unless messages overtook each other.
    for (TaskIndex i = 0; i < job->tasks.size(); ++i) {
      const HeldTask& task = job->tasks[i];
      if (task.lease == message.lease && task.probe == message.probe && task.attempts > 0) {
        return answer(task.state == State::kWaiting ? kNoTask : i);
      }
    }
  }
  if (probe.left > 0) {
    --probe.left;
    --job->outstanding;
  }
  const TaskIndex task = nextFor(*job, message.server);
  if (task != kNoTask) return give(*job, task, message, now, actions);
  // The monitor drops what is left of the reservation with this answer.
  job->outstanding -= probe.left;
  probe.left = 0;
  answer(kNoTask);
}

void JobScheduler::handle(std::span<const Ask> messages, MonotonicTime now, SchedulerActions& actions) {
  order_.clear();
  bool isOrdered = true;
  for (const Ask& message : messages) {
    const HeldJob* job = find(message.job);
    order_.emplace_back(job != nullptr && job->isConstrained() ? feasibleTasks(*job, message.server) : 0,
                        &message);
    isOrdered = isOrdered && order_.back().first == 0;
  }
  const auto isBefore = [](const auto& one, const auto& other) { return one.first < other.first; };
  if (!isOrdered) std::stable_sort(order_.begin(), order_.end(), isBefore);
  for (const auto& [feasible, message] : order_) handle(*message, now, actions);
}

// Tasks that wait and may run there. Requires: tasks have servers of their own.
size_t JobScheduler::feasibleTasks(const HeldJob& job, ServerId server) const {
  size_t count = 0;
  auto pair = std::lower_bound(job.eligible.begin(), job.eligible.end(), server, isOfLower);
  for (; pair != job.eligible.end() && pair->server == server; ++pair) {
    count += job.tasks[pair->task].state == State::kWaiting ? 1 : 0;
  }
  return count;
}

// The task that a server that asks gets; kNoTask where none that waits may run there.
TaskIndex JobScheduler::nextFor(HeldJob& job, ServerId server) {
  if (job.waiting == 0) return kNoTask;
  if (!job.isConstrained()) {
    if (job.returned.empty()) return job.fresh++;
    const TaskIndex task = job.returned.back();
    job.returned.pop_back();
    return task;
  }
  TaskIndex best = kNoTask;
  auto pair = std::lower_bound(job.eligible.begin(), job.eligible.end(), server, isOfLower);
  for (; pair != job.eligible.end() && pair->server == server; ++pair) {
    if (job.tasks[pair->task].state != State::kWaiting) continue;
    if (pair->drew) return pair->task;
    if (best == kNoTask) best = pair->task;
  }
  return best;
}

void JobScheduler::give(HeldJob& job, TaskIndex index, const Ask& ask, MonotonicTime now,
                        SchedulerActions& actions) {
  HeldTask& task = job.tasks[index];
  task.state = State::kGiven;
  task.lease = ask.lease;
  task.probe = ask.probe;
  task.reserve = std::max(Duration(0), now - task.since - ask.queued);
  ++task.attempts;
  --job.waiting;
  actions.gives.push_back({agent_, ask.server, job.number, ask.lease, index});
  if (job.waiting == 0) {
    cancelOutstanding(job, actions);
  } else if (job.isConstrained()) {
    cancelUseless(job, index, actions);
  }
}

// Cancels the reservations at servers where no task that waits may run.
void JobScheduler::cancelUseless(HeldJob& job, TaskIndex given, SchedulerActions& actions) {
  for (ProbeIndex i = 0; i < job.probes.size(); ++i) {
    Probe& probe = job.probes[i];
    const auto& servers = job.spec.serversOfTasks[given];
    if (probe.left == 0 || std::find(servers.begin(), servers.end(), probe.server) == servers.end()) continue;
    if (feasibleTasks(job, probe.server) > 0) continue;
    if (options_.cancel) actions.cancels.push_back({agent_, probe.server, job.number, i});
    job.outstanding -= probe.left;
    probe.left = 0;
  }
}

// --- What becomes of tasks

void JobScheduler::handle(const Started& message) {
  HeldJob* job = find(message.job);
  if (job == nullptr || message.task >= job->tasks.size()) return;
  HeldTask& task = job->tasks[message.task];
  if (task.state == State::kGiven && task.lease == message.lease) task.state = State::kRunning;
}

void JobScheduler::handle(const NotStarted& message, MonotonicTime now, Rng& rng, SchedulerActions& actions) {
  HeldJob* job = find(message.job);
  if (job == nullptr || message.task >= job->tasks.size()) return;
  const HeldTask& task = job->tasks[message.task];
  if (task.state != State::kGiven || task.lease != message.lease) return;
  takeBack(*job, message.task, now, actions);
  makeGood(*job, rng, actions);
  closeIfOver(*job, actions);
}

void JobScheduler::handle(const Ended& message, SchedulerActions& actions) {
  actions.forgets.push_back({agent_, message.server, message.lease});
  HeldJob* job = find(message.job);
  if (job == nullptr || message.task >= job->tasks.size()) return;
  const HeldTask& task = job->tasks[message.task];
  if (!isAway(task) || (task.lease != 0 && task.lease != message.lease)) return;
  ratio_.noteTask(message.getTask, message.service);
  const bool isStopped = job->isCancelled && message.code != 0;
  end(*job, message.task, isStopped ? Outcome::kCancelled : Outcome::kDone, actions, &message);
  closeIfOver(*job, actions);
}

void JobScheduler::serverLost(ServerId server, MonotonicTime now, Rng& rng, SchedulerActions& actions) {
  groups_.setDown(server);
  for (HeldJob& job : jobs_) {
    if (!job.isOpen) continue;
    for (Probe& probe : job.probes) {
      if (probe.server != server) continue;
      job.outstanding -= probe.left;
      probe.left = 0;
      forgetLengths(job);
    }
    for (TaskIndex i = 0; i < job.tasks.size(); ++i) {
      const HeldTask& task = job.tasks[i];
      if (!isAway(task) || job.probes[task.probe].server != server) continue;
      if (job.spec.atMostOnce) {
        end(job, i, Outcome::kLost, actions);
      } else {
        takeBack(job, i, now, actions);
      }
    }
    makeGood(job, rng, actions);
    closeIfOver(job, actions);
  }
}

// The task was not started, or may be run again: it waits.
void JobScheduler::takeBack(HeldJob& job, TaskIndex index, MonotonicTime now, SchedulerActions& actions) {
  HeldTask& task = job.tasks[index];
  task.state = State::kWaiting;
  task.since = now;
  ++job.waiting;
  if (job.isCancelled) return end(job, index, Outcome::kCancelled, actions);
  if (!job.isConstrained()) job.returned.push_back(index);
}

// Whatever waits is on its way to some server afterwards, if there is one.
void JobScheduler::makeGood(HeldJob& job, Rng& rng, SchedulerActions& actions) {
  if (job.waiting == 0) return;
  if (job.spec.policy == LatePolicy::kLateBinding) return probe(job, rng, actions);
  const bool isNew = job.probes.empty();
  if (isNew && job.spec.policy != LatePolicy::kRandom) return look(job, rng, actions);
  if (isNew || job.answers == job.lengths.size()) placeAnywhere(job, rng, actions);
}

// --- Time

void JobScheduler::advance(MonotonicTime now, Rng& rng, SchedulerActions& actions) {
  while (nextWake() <= now) {
    std::pop_heap(alarms_.begin(), alarms_.end(), std::greater<>());
    HeldJob* job = find(alarms_.back().job);
    alarms_.pop_back();
    if (job == nullptr) continue;
    repeat(*job, rng, actions);
    job->pause = std::min(2 * job->pause, options_.mostRepeat);
    setAlarm(*job, now + job->pause);
  }
}

// Any of it may have been lost on the way. What was not is ignored, or answered once more.
void JobScheduler::repeat(HeldJob& job, Rng& rng, SchedulerActions& actions) {
  for (ProbeIndex i = 0; i < job.probes.size(); ++i) {
    if (job.probes[i].left > 0) actions.reserves.push_back(reserveOf(job, i));
  }
  for (TaskIndex i = 0; i < job.tasks.size(); ++i) {
    const HeldTask& task = job.tasks[i];
    if (task.state != State::kGiven || task.lease == 0) continue;
    actions.gives.push_back({agent_, job.probes[task.probe].server, job.number, task.lease, i});
  }
  if (job.isCancelled) stopTasks(job, actions);
  if (job.outstanding < job.waiting || job.isConstrained()) makeGood(job, rng, actions);
}

}  // namespace tarcil::late
