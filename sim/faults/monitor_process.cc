#include "sim/faults/monitor_process.h"

#include "sim/faults/event_text.h"

namespace tarcil::sim {

MonitorProcess::MonitorProcess(VirtualWorld& world, const Masters& masters, CheckedStore& checked,
                               TaskChecker& checker, std::string name, std::vector<ServerFacts> servers,
                               std::function<void()> ended)
    : world_(world),
      checked_(checked),
      checker_(checker),
      name_(std::move(name)),
      servers_(std::move(servers)),
      ended_(std::move(ended)),
      clock_(world),
      connection_(world, masters, *this),
      timer_(world, clock_, [this] { take(monitor::TimerFired{}); }),
      pools_(world, clock_, checker, name_,
             [this](const std::string& server, const late::PoolReport& report) {
               toMaster([server, report](MasterProcess& master, SessionId session, Copy copy) {
                 master.poolReport(session, server, report, copy);
               });
             }),
      executor_(newExecutor()),
      executorTimer_(world, clock_, [this] {
        executor_->advance(clock_.now());
        advanceLater();
      }) {}

void MonitorProcess::start() {
  world_.note(name_, "starts");
  throttled_.clear();  // by the executor's recover()
  std::vector<std::string> names;
  for (const ServerFacts& facts : servers_) names.push_back(facts.name);
  std::vector<RecoveredTask> recovered;
  for (const auto& [allocation, task] : disk_) recovered.push_back(task);
  std::vector<monitor::Action> actions;
  logic_ = std::make_unique<MonitorLogic>(names, recovered, clock_.now(), actions);
  carryOut(std::move(actions));
  pools_.start(servers_);
  connection_.start();
}

void MonitorProcess::shutDown(Duration grace) {
  world_.note(name_, "shuts down");
  shutsDown_ = true;
  checker_.monitorShutDown(name_);
  tellLeave();
  take(monitor::ShutdownBegun{grace});
}

void MonitorProcess::tellLeave() {
  toMaster([](MasterProcess& master, SessionId session, Copy) { master.leave(session); });
}

void MonitorProcess::crash() {
  world_.note(name_, "dies");
  shutsDown_ = false;
  logic_.reset();
  pools_.crash();
  ++life_;
  midway_ = nullptr;
  oomKiller_.callOff();
  timer_.clear();
  unrecorded_.clear();
  fetching_.clear();
  resizes_.clear();
  throttles_.clear();
  connection_.stop();
  // Whoever waits for an answer notices that the link is broken.
  for (auto& [request, answer] : std::exchange(launches_, {})) answer(Outcome::kUnknownServer);
}

void MonitorProcess::lose() {
  crash();
  executor_ = newExecutor();
  executorTimer_.clear();
  disk_.clear();
  checker_.machineLost(name_);
  pools_.lose();
  if (world_.oneIn(2)) ++identity_;
}

std::unique_ptr<EmulatedExecutor> MonitorProcess::newExecutor() {
  return std::make_unique<EmulatedExecutor>(static_cast<ExecutorListener&>(*this), clock_.now());
}

void MonitorProcess::launch(const LaunchSpec& spec, std::function<void(Outcome)> answer) {
  if (!alive()) return;
  if (shutsDown_) return answer(Outcome::kUnknownServer);
  const uint64_t request = world_.nextNumber();
  launches_.emplace(request, std::move(answer));
  take(monitor::LaunchArrived{request, spec});
}

void MonitorProcess::changeServers(std::vector<ServerFacts> servers) {
  for (ServerFacts& facts : servers) {
    facts.address = name_;
    facts.emulated = true;
  }
  servers_ = std::move(servers);
}

// --- The master -------------------------------------------------------------------------------------------

void MonitorProcess::toMaster(const Message& message) {
  if (!connection_.isUp()) return;
  const auto say = [message, way = connection_.shared()](Copy copy) {
    message(way->master(), way->session(), copy);
  };
  connection_.line().toMaster([say] { say(Copy::kFirst); }, [say] { say(Copy::kRepeat); });
}

void MonitorProcess::connected() {
  const std::string identity = name_ + "#" + std::to_string(identity_);
  attaching_ = {};
  toAttach_ = monitor::attachPages(servers_, logic_->knownTasks(), 1 + world_.rng().below(3));
  connection_.line().toMaster(
      [this, way = connection_.shared(), identity, life = life_, page = toAttach_.front()] {
        const auto take = [this, life](const monitor::Event& event) {
          if (life != life_) return;
          if (const auto* answer = std::get_if<monitor::MasterAttached>(&event)) return takeAttached(*answer);
          this->take(event);
        };
        const auto takePools = [this, life](const PoolNews& news) {
          if (life == life_) pools_.handle(news);
        };
        // The master has no means to tell an attachment that was held up on a connection given up since from
        // a new one, and would believe it about tasks (docs/simulator.md). TCP delivers one for some seconds
        // at most.
        if (!way->isInUse()) return;
        const auto refused = [this, life] {
          if (life == life_) connection_.breakOff();
        };
        way->master().attachMonitor(way, identity, page.servers, page.tasks, {take, takePools, refused});
      });
}

// One page after the other; then it is attached.
void MonitorProcess::takeAttached(const monitor::MasterAttached& answer) {
  attaching_.drop.insert(attaching_.drop.end(), answer.drop.begin(), answer.drop.end());
  attaching_.stop.insert(attaching_.stop.end(), answer.stop.begin(), answer.stop.end());
  attaching_.lease = answer.lease;
  toAttach_.erase(toAttach_.begin());
  if (!toAttach_.empty()) {
    if (!connection_.isUp()) return;
    connection_.line().toMaster([way = connection_.shared(), page = toAttach_.front()] {
      way->master().attachMore(way->session(), page.servers, page.tasks);
    });
    return;
  }
  take(attaching_);
  tellPressures();
  pools_.masterAttached();
  if (shutsDown_) tellLeave();
}

void MonitorProcess::disconnected() {
  take(monitor::MasterLost{});
  if (alive() && !throttled_.empty()) world_.violated("a task stays throttled without a master");
  for (AllocationId allocation : std::exchange(fetching_, {})) {
    take(monitor::FilesArrived{allocation, Error{ErrorCode::kUnavailable, "connection lost"}});
  }
}

void MonitorProcess::measure(std::vector<ServerPressure> pressures) {
  pressures_ = std::move(pressures);
  tellPressures();
}

void MonitorProcess::tellPressures() {
  if (pressures_.empty()) return;
  toMaster([pressures = pressures_](MasterProcess& master, SessionId session, Copy) {
    master.pressure(session, pressures);
  });
}

void MonitorProcess::fetch(const monitor::FetchFiles& fetch) {
  fetching_.insert(fetch.allocation);
  if (!connection_.isUp()) return;
  connection_.line().toMaster([this, fetch, way = connection_.shared(), life = life_] {
    way->toPeer([this, fetch, life, files = way->master().files(fetch.job)] {
      if (life != life_) return;
      fetching_.erase(fetch.allocation);
      take(monitor::FilesArrived{fetch.allocation, files});
    });
  });
}

// --- Logic ------------------------------------------------------------------------------------------------

void MonitorProcess::take(const monitor::Event& event) {
  if (!alive()) return;
  world_.event(name_, [&event] { return text(event); });
  if (const auto* wanted = std::get_if<monitor::ResizeArrived>(&event)) resizes_[wanted->request] = *wanted;
  if (const auto* wanted = std::get_if<monitor::ThrottleArrived>(&event))
    throttles_[wanted->request] = *wanted;
  std::vector<monitor::Action> actions;
  logic_->handle(event, clock_.now(), world_.rng(), actions);
  carryOut(std::move(actions));
  if (!alive() || !oomKiller_.isWatching()) return;
  if (!oomKiller_.strikes(logic_->knownTasks().size(), world_.now().steady)) return;
  crash();
  ended_();
}

void MonitorProcess::carryOut(std::vector<monitor::Action> actions) {
  if (midway_ && actions.size() > 1) actions.resize(1 + world_.rng().below(actions.size() - 1));
  const bool dies = midway_ && !actions.empty();
  for (const monitor::Action& action : actions) carryOut(action);
  advanceLater();
  if (!dies) return;
  const auto crashed = std::exchange(midway_, nullptr);
  crash();
  crashed();
}

void MonitorProcess::carryOut(const monitor::Action& action) {
  if (const auto* record = std::get_if<monitor::RecordLaunch>(&action)) {
    if (std::string problem = exhausted(); !problem.empty()) {
      unrecorded_[record->spec.allocation] = std::move(problem);
    } else {
      disk_[record->spec.allocation] = {record->spec, RecoveredTask::State::kNeverStarted, kNever, {}};
    }
  } else if (const auto* answer = std::get_if<monitor::AnswerLaunch>(&action)) {
    launches_.extract(answer->request).mapped()(answer->outcome);
  } else if (const auto* wanted = std::get_if<monitor::FetchFiles>(&action)) {
    fetch(*wanted);
  } else if (const auto* start = std::get_if<monitor::StartTask>(&action)) {
    execute(*start);
  } else if (const auto* reason = std::get_if<monitor::RecordReason>(&action)) {
    if (const auto kept = disk_.find(reason->allocation); kept != disk_.end()) {
      kept->second.reason = reason->reason;
    }
  } else if (const auto* wider = std::get_if<monitor::ResizeTask>(&action)) {
    resize(*wider);
  } else if (const auto* refused = std::get_if<monitor::RefuseChange>(&action)) {
    answerResize(refused->request, refused->error);
    answerThrottle(refused->request, refused->error);
  } else if (const auto* slower = std::get_if<monitor::ThrottleTask>(&action)) {
    throttle(*slower);
  } else if (const auto* signal = std::get_if<monitor::SignalTask>(&action)) {
    executor_->advance(clock_.now());
    executor_->signal(signal->allocation, signal->signal);
  } else if (const auto* gone = std::get_if<monitor::ForgetTask>(&action)) {
    forget(gone->allocation);
  } else if (const auto* reports = std::get_if<monitor::SendReports>(&action)) {
    toMaster([reports = reports->reports](MasterProcess& master, SessionId session, Copy copy) {
      master.report(session, reports, copy);
    });
  } else if (const auto* renewal = std::get_if<monitor::RenewLease>(&action)) {
    toMaster([tasks = renewal->starting](MasterProcess& master, SessionId session, Copy copy) {
      if (copy == Copy::kFirst) master.renewLease(session, tasks);
    });
  } else if (const auto* lease = std::get_if<monitor::ExtendLease>(&action)) {
    executor_->advance(clock_.now());
    executor_->extendLease(lease->until);
  } else if (const auto* wake = std::get_if<monitor::WakeAt>(&action)) {
    timer_.set(wake->when);
  }
}

// --- Tasks ------------------------------------------------------------------------------------------------

void MonitorProcess::execute(const monitor::StartTask& start) {
  const AllocationId allocation = start.spec.allocation;
  executor_->advance(clock_.now());
  if (const auto unrecorded = unrecorded_.extract(allocation); !unrecorded.empty()) {
    return endUnstarted(allocation, unrecorded.mapped());
  }
  checker_.starts(name_, start.spec);
  RecoveredTask& kept = disk_[allocation];
  kept.spec = start.spec;
  kept.state = RecoveredTask::State::kRunning;
  kept.started = clock_.now().wall;
  std::string problem = exhausted();
  if (problem.empty() && world_.oneIn(failsOneIn_)) problem = "the disk is full";
  problem.empty() ? executor_->start(start.spec, start.files, start.secrets)
                  : endUnstarted(allocation, std::move(problem));
}

// What its process lacks now; empty where it lacks nothing.
std::string MonitorProcess::exhausted() const {
  if (!connection_.hasDescriptors()) return "too many open files";
  return world_.now().steady < noMemoryUntil_ ? "cannot allocate memory" : "";
}

// Of a launch that could not be recorded nothing is written down: a successor knows nothing of it.
void MonitorProcess::endUnstarted(AllocationId allocation, std::string problem) {
  TaskEnd end;
  end.cause = EndCause::kNeverStarted;
  end.problem = std::move(problem);
  end.ended = clock_.now().wall;
  if (disk_.contains(allocation)) return taskEnded(allocation, end);
  world_.after(Duration::zero(), [this, life = life_, allocation, end] {
    if (life == life_) take(monitor::TaskEnded{allocation, end});
  });
}

// The task has the units from now on; that the monitor hears of it is an event of its own.
void MonitorProcess::resize(const monitor::ResizeTask& resize) {
  RecoveredTask& kept = disk_[resize.allocation];
  if (kept.state != RecoveredTask::State::kRunning) {
    return answerResize(resize.request, Error{ErrorCode::kNotFound, "this task is not running here"});
  }
  kept.spec.rus = resize.rus;
  checker_.resized(resize.allocation, resize.rus);
  world_.after(Duration::zero(), [this, life = life_, resize] {
    if (life != life_) return;
    take(monitor::TaskResized{resize.allocation, resize.rus});
    if (life == life_) answerResize(resize.request, {});
  });
}

void MonitorProcess::answerResize(uint64_t request, const Status& status) {
  const auto asked = resizes_.extract(request);
  if (asked.empty()) return;
  const monitor::ResizeArrived& wanted = asked.mapped();
  toMaster([allocation = wanted.allocation, rus = wanted.rus, status](MasterProcess& master,
                                                                      SessionId session, Copy copy) {
    if (copy == Copy::kFirst) master.resized(session, allocation, rus, status);
  });
}

void MonitorProcess::throttle(const monitor::ThrottleTask& throttle) {
  const auto task = disk_.find(throttle.allocation);
  const bool isRunning = task != disk_.end() && task->second.state == RecoveredTask::State::kRunning;
  if (throttle.throttle.isNone() || !isRunning) {
    throttled_.erase(throttle.allocation);
  } else {
    throttled_.insert(throttle.allocation);
  }
  if (!throttle.request) return;
  answerThrottle(*throttle.request, isRunning ? Status() : notFound("this task is not running here"));
}

void MonitorProcess::answerThrottle(uint64_t request, const Status& status) {
  const auto asked = throttles_.extract(request);
  if (asked.empty()) return;
  const monitor::ThrottleArrived& wanted = asked.mapped();
  toMaster([allocation = wanted.allocation, throttle = wanted.throttle, status](
               MasterProcess& master, SessionId session, Copy copy) {
    if (copy == Copy::kFirst) master.throttled(session, allocation, throttle, status);
  });
}

void MonitorProcess::complain() {
  std::vector<AllocationId> running;
  for (const auto& [allocation, task] : disk_) {
    if (task.state == RecoveredTask::State::kRunning) running.push_back(allocation);
  }
  if (running.empty()) return;
  Violation violation{.allocation = running[world_.rng().below(running.size())],
                      .over = world_.oneIn(3),
                      .expected = 1,
                      .measured = 0.5,
                      .since = clock_.now().wall,
                      .causes = {}};
  Cause cause{.kind = world_.oneIn(2) ? Cause::Kind::kCores : Cause::Kind::kNeighbour,
              .resource = Resource::kLlc,
              .neighbour = running[world_.rng().below(running.size())],
              .weight = 1,
              .evidence = "it says so"};
  if (!violation.over) violation.causes.push_back(std::move(cause));
  toMaster([violation](MasterProcess& master, SessionId session, Copy) {
    master.violations(session, {violation});
  });
}

void MonitorProcess::forget(AllocationId allocation) {
  checked_.checker.forgottenByMonitor(allocation);
  checker_.forgotten(allocation);
  LaunchSpec mark;
  mark.allocation = allocation;
  disk_[allocation] = {mark, RecoveredTask::State::kForgotten, kNever, {}};
}

// Tasks start and end whether the monitor lives or not; that it hears of it is an event of its own.
void MonitorProcess::taskStarted(AllocationId allocation, WallTime when) {
  world_.after(Duration::zero(), [this, life = life_, allocation, when] {
    if (life == life_) take(monitor::TaskStarted{allocation, when});
  });
}

void MonitorProcess::taskEnded(AllocationId allocation, const TaskEnd& end) {
  checker_.ended(allocation, end);
  throttled_.erase(allocation);
  disk_[allocation].state = RecoveredTask::State::kEnded;
  disk_[allocation].end = end;
  world_.after(Duration::zero(), [this, life = life_, allocation, end] {
    if (life == life_) take(monitor::TaskEnded{allocation, end});
  });
}

void MonitorProcess::advanceLater() {
  if (const std::optional<MonotonicTime> next = executor_->nextWake()) {
    executorTimer_.set(*next);
  } else {
    executorTimer_.clear();
  }
}

}  // namespace tarcil::sim
