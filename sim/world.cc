#include "sim/world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tarcil::sim {
namespace {

constexpr SimTime kNotStarted{-1};
constexpr TaskNumber kNoTask = UINT32_MAX;
constexpr uint64_t kEventsPerWatch = 1 << 16;
// Events without a start while nothing runs, for each job and besides: the policy only talks to itself, and
// would for ever.
constexpr uint64_t kVainEventsOfJob = 100, kVainEvents = 100'000;

}  // namespace

World::World(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth* truth)
    : servers_(servers), workload_(workload), truth_(truth) {
  for (const SimServer& server : servers_) {
    free_.push_back(static_cast<int32_t>(server.capacity()));
    units_ += server.units;
  }
  running_.resize(truth_ ? servers_.size() : 0);
  for (ServerNumber server = 0; server < running_.size(); ++server) {
    Running& running = running_[server];
    for (const SimResident& resident : servers_[server].residents) {
      running.tasks.push_back(kNoTask);
      running.applications.push_back(resident.application);
      running.left.push_back(0);
      running.speed.push_back(0);
      running.phase.push_back(0);
    }
    reckon(server);
  }
  started_.assign(workload_.work.size(), kNotStarted);
  outcomes_.resize(workload_.jobs.size());
  jobOf_.resize(workload_.work.size());
  for (JobNumber number = 0; number < workload_.jobs.size(); ++number) {
    const SimJob& job = workload_.jobs[number];
    outcomes_[number].unfinished = job.tasks;
    outcomes_[number].quality = 0;
    if (job.stream >= heldByStream_.size()) heldByStream_.resize(job.stream + size_t{1});
    std::fill_n(jobOf_.begin() + job.firstTask, job.tasks, number);
  }
}

void World::observe(Duration every, std::function<void(SimTime)> look) {
  lookEvery_ = every;
  nextLook_ = every;
  look_ = std::move(look);
}

void World::lookUntil(SimTime time) {
  const SimTime until = std::min(time, workload_.jobs.back().arrival);
  for (; look_ && nextLook_ < until; nextLook_ += lookEvery_) look_(nextLook_);
}

void World::run(Scheduler& scheduler, const std::function<void(const Progress&)>& watch) {
  const std::vector<SimJob>& jobs = workload_.jobs;
  const uint64_t inVain = kVainEvents + kVainEventsOfJob * jobs.size();
  while (jobsDone_ < jobs.size()) {
    const bool arrives = nextJob_ < jobs.size();
    if (!arrives && (queue_.empty() || (held_ == 0 && events_ - lastStart_ > inVain))) break;
    if (++events_ % kEventsPerWatch == 0 && watch) {
      watch({.jobsDone = jobsDone_, .jobs = jobs.size(), .events = events_, .now = now_});
    }
    if (arrives && (queue_.empty() || jobs[nextJob_].arrival <= queue_.nextTime())) {
      lookUntil(jobs[nextJob_].arrival);
      now_ = jobs[nextJob_].arrival;
      scheduler.jobArrived(static_cast<JobNumber>(nextJob_++));
      continue;
    }
    lookUntil(queue_.nextTime());
    now_ = queue_.nextTime();
    handle(queue_.pop(), scheduler);
  }
}

void World::handle(const Event& event, Scheduler& scheduler) {
  switch (event.kind) {
    case Kind::kMessage:
      scheduler.received({.kind = event.message, .a = event.a, .b = event.b, .c = event.c});
      break;
    case Kind::kTaskEnds:
      end(event.a, event.b);
      scheduler.taskEnded(event.a, event.b);
      break;
    case Kind::kServerTurns:
      if (running_[event.a].turn == event.b) turn(event.a, scheduler);
      break;
  }
}

void World::send(Duration delay, const Message& message) {
  queue_.push(now_ + delay, {Kind::kMessage, message.kind, message.a, message.b, message.c});
}

void World::start(TaskNumber task, ServerNumber server) {
  if (started_[task] != kNotStarted) {
    ++violations_;
    return;
  }
  const SimJob& job = workload_.jobs[jobOf_[task]];
  countHeld();
  lastStart_ = events_;
  held_ += job.rus;
  heldByStream_[job.stream] += job.rus;
  free_[server] -= static_cast<int32_t>(job.rus);
  if (free_[server] < 0) ++violations_;
  started_[task] = now_;
  if (!truth_) {
    const double micros = static_cast<double>(workload_.work[task].count()) / paceOf(task);
    queue_.push(now_ + Duration(std::llround(micros)), {Kind::kTaskEnds, 0, task, server, 0});
    return;
  }
  Running& running = running_[server];
  workOn(running);
  running.tasks.push_back(task);
  running.applications.push_back(job.application);
  running.left.push_back(static_cast<double>(workload_.work[task].count()));
  running.speed.push_back(0);
  running.phase.push_back(0);
  reckon(server);
}

double World::leftAfterPhase(const Running& running, size_t place) const {
  const uint32_t phases = truth_->phases(), after = phases - 1 - running.phase[place];
  return static_cast<double>(workload_.work[running.tasks[place]].count()) * after / phases;
}

void World::workOn(Running& running) const {
  const auto micros = static_cast<double>((now_ - running.since).count());
  for (size_t i = 0; i < running.left.size(); ++i) running.left[i] -= micros * running.speed[i];
  running.since = now_;
}

void World::reckon(ServerNumber server) {
  Running& running = running_[server];
  ++running.turn;
  const size_t residents = servers_[server].residents.size();
  if (running.tasks.empty()) return;
  truth_->speedsOn(server, servers_[server].platform, running.applications, running.speed);
  if (running.tasks.size() == residents) return;
  double next = std::numeric_limits<double>::infinity();
  for (size_t i = residents; i < running.left.size(); ++i) {
    running.speed[i] *= paceOf(running.tasks[i]);
    next = std::min(next, (running.left[i] - leftAfterPhase(running, i)) / running.speed[i]);
  }
  const auto micros = static_cast<int64_t>(std::ceil(std::max(0.0, next)));
  queue_.push(now_ + Duration(micros), {Kind::kServerTurns, 0, server, running.turn, 0});
}

// The first to end, or to come to its next phase, has done so; with it those that would within a microsecond.
void World::turn(ServerNumber server, Scheduler& scheduler) {
  Running& running = running_[server];
  workOn(running);
  ended_.clear();
  size_t kept = servers_[server].residents.size();
  for (size_t i = kept; i < running.tasks.size(); ++i) {
    if (running.left[i] < running.speed[i]) {
      ended_.push_back(running.tasks[i]);
      continue;
    }
    if (running.left[i] - leftAfterPhase(running, i) < running.speed[i]) {
      const JobNumber job = jobOf_[running.tasks[i]];
      running.applications[i] = truth_->inPhase(workload_.jobs[job].application, ++running.phase[i]);
    }
    running.tasks[kept] = running.tasks[i];
    running.applications[kept] = running.applications[i];
    running.left[kept] = running.left[i];
    running.speed[kept] = running.speed[i];
    running.phase[kept] = running.phase[i];
    ++kept;
  }
  running.tasks.resize(kept);
  running.applications.resize(kept);
  running.left.resize(kept);
  running.speed.resize(kept);
  running.phase.resize(kept);
  for (TaskNumber task : ended_) end(task, server);
  reckon(server);
  // The policy may start others there, but a turn never comes within a turn.
  for (TaskNumber task : ended_) scheduler.taskEnded(task, server);
}

void World::end(TaskNumber task, ServerNumber server) {
  const JobNumber number = jobOf_[task];
  const SimJob& job = workload_.jobs[number];
  countHeld();
  held_ -= job.rus;
  heldByStream_[job.stream] -= job.rus;
  free_[server] += static_cast<int32_t>(job.rus);
  JobOutcome& outcome = outcomes_[number];
  const Duration ran = now_ - started_[task];
  const double work = static_cast<double>(workload_.work[task].count());
  const double quality = ran.count() > 0 ? work / static_cast<double>(ran.count()) : 1;
  if (truth_ && job.isCounted) qualities_.push_back(static_cast<float>(quality));
  // Means, taken step by step.
  const uint32_t before = job.tasks - outcome.unfinished;
  const Duration waited = started_[task] - job.arrival;
  outcome.waited += (waited - outcome.waited) / static_cast<int64_t>(before + 1);
  outcome.quality += (static_cast<float>(quality) - outcome.quality) / static_cast<float>(before + 1);
  if (--outcome.unfinished == 0) {
    outcome.ended = now_;
    ++jobsDone_;
  }
}

std::vector<float> World::residentQualities() const {
  std::vector<float> qualities;
  for (ServerNumber server = 0; server < running_.size(); ++server) {
    const Running& running = running_[server];
    for (size_t i = 0; i < servers_[server].residents.size(); ++i) {
      const double since = static_cast<double>((now_ - running.since).count());
      const double did = since * running.speed[i] - running.left[i];
      const double alone = truth_->alone(running.applications[i], servers_[server].platform);
      const auto micros = static_cast<double>(now_.count());
      qualities.push_back(micros > 0 ? static_cast<float>(did / micros / alone) : 1);
    }
  }
  return qualities;
}

void World::countHeld() {
  const SimTime last = workload_.jobs.back().arrival;
  const SimTime until = std::min(now_, last);
  if (until > heldSince_) {
    heldUnitMicros_ += static_cast<double>(held_) * static_cast<double>((until - heldSince_).count());
    heldSince_ = until;
  }
}

double World::utilisation() const {
  const SimTime first = workload_.jobs.front().arrival, last = workload_.jobs.back().arrival;
  const auto micros = static_cast<double>((last - first).count());
  return micros > 0 ? heldUnitMicros_ / micros / static_cast<double>(units_) : 0;
}

}  // namespace tarcil::sim
