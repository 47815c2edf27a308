#include "tests/support/fake_monitor.h"

#include <algorithm>

#include "tests/support/event_text.h"

namespace tarcil {

FakeMonitor::FakeMonitor(FakeWorld& world, FakeMaster& master, std::string name,
                         std::vector<ServerFacts> servers)
    : world_(world),
      master_(master),
      name_(std::move(name)),
      servers_(std::move(servers)),
      connection_(world, master, *this),
      timer_(world),
      executor_(newExecutor()),
      executorTimer_(world) {}

void FakeMonitor::start() {
  world_.note(name_, "starts");
  std::vector<std::string> names;
  for (const ServerFacts& facts : servers_) names.push_back(facts.name);
  std::vector<RecoveredTask> recovered;
  for (const auto& [allocation, task] : disk_) recovered.push_back(task);
  std::vector<monitor::Action> actions;
  logic_ = std::make_unique<MonitorLogic>(std::move(names), recovered, world_.now(), actions);
  carryOut(actions);
  connection_.start();
}

void FakeMonitor::crash() {
  world_.note(name_, "dies");
  logic_.reset();
  ++life_;
  timer_.clear();
  fetching_.clear();
  launches_.clear();
  connection_.stop();
}

void FakeMonitor::lose() {
  crash();
  executor_ = newExecutor();
  executorTimer_.clear();
  disk_.clear();
  everStarted_.clear();
}

std::unique_ptr<EmulatedExecutor> FakeMonitor::newExecutor() {
  return std::make_unique<EmulatedExecutor>(static_cast<ExecutorListener&>(*this), world_.now());
}

void FakeMonitor::launch(const LaunchSpec& spec, std::function<void(Outcome)> answer) {
  if (!alive()) return;
  const uint64_t request = world_.nextNumber();
  launches_.emplace(request, std::move(answer));
  take(monitor::LaunchArrived{request, spec});
}

void FakeMonitor::connected() {
  connection_.toMaster([this, tasks = logic_->knownTasks()] {
    master_.attachMonitor(connection_, name_, servers_, tasks,
                          [this](const monitor::Event& event) { take(event); });
  });
}

void FakeMonitor::disconnected() {
  take(monitor::MasterLost{});
  for (AllocationId allocation : std::exchange(fetching_, {})) {
    take(monitor::FilesArrived{allocation, Error{ErrorCode::kUnavailable, "connection lost"}});
  }
}

void FakeMonitor::take(const monitor::Event& event) {
  if (!alive()) return;
  world_.note(name_, text(event));
  std::vector<monitor::Action> actions;
  logic_->handle(event, world_.now(), world_.rng(), actions);
  carryOut(actions);
}

void FakeMonitor::carryOut(const std::vector<monitor::Action>& actions) {
  for (const monitor::Action& action : actions) {
    if (const auto* record = std::get_if<monitor::RecordLaunch>(&action)) {
      disk_[record->spec.allocation] = {record->spec, RecoveredTask::State::kNeverStarted, kNever, {}};
    } else if (const auto* answer = std::get_if<monitor::AnswerLaunch>(&action)) {
      launches_.extract(answer->request).mapped()(answer->outcome);
    } else if (const auto* wanted = std::get_if<monitor::FetchFiles>(&action)) {
      fetch(*wanted);
    } else if (const auto* start = std::get_if<monitor::StartTask>(&action)) {
      execute(*start);
    } else if (const auto* reason = std::get_if<monitor::RecordReason>(&action)) {
      disk_[reason->allocation].reason = reason->reason;
    } else if (const auto* signal = std::get_if<monitor::SignalTask>(&action)) {
      executor_->advance(world_.now());
      executor_->signal(signal->allocation, signal->signal);
    } else if (const auto* forget = std::get_if<monitor::ForgetTask>(&action)) {
      LaunchSpec mark;
      mark.allocation = forget->allocation;
      disk_[forget->allocation] = {mark, RecoveredTask::State::kForgotten, kNever, {}};
    } else if (const auto* reports = std::get_if<monitor::SendReports>(&action)) {
      connection_.toMaster([this, session = connection_.session(), reports = reports->reports] {
        master_.report(session, reports);
      });
    } else if (const auto* renewal = std::get_if<monitor::RenewLease>(&action)) {
      connection_.toMaster([this, session = connection_.session(), starting = renewal->starting] {
        master_.renewLease(session, starting);
      });
    } else if (const auto* lease = std::get_if<monitor::ExtendLease>(&action)) {
      executor_->advance(world_.now());
      executor_->extendLease(lease->until);
    } else if (const auto* wake = std::get_if<monitor::WakeAt>(&action)) {
      timer_.set(wake->when, [this] { take(monitor::TimerFired{}); });
    }
  }
  advanceLater();
}

void FakeMonitor::execute(const monitor::StartTask& start) {
  const AllocationId allocation = start.spec.allocation;
  if (!everStarted_.insert(allocation).second) {
    world_.violated("allocation " + std::to_string(allocation) + " was started twice");
  }
  world_.countStart(start.spec.job, start.spec.task);
  expectUnitsFree(start.spec);
  executor_->advance(world_.now());
  disk_[allocation].state = RecoveredTask::State::kRunning;
  disk_[allocation].started = world_.now().wall;
  executor_->start(start.spec, start.files);
}

void FakeMonitor::expectUnitsFree(const LaunchSpec& spec) {
  for (const auto& [allocation, task] : disk_) {
    if (task.state != RecoveredTask::State::kRunning || task.spec.server != spec.server) continue;
    for (RuIndex ru : spec.rus) {
      if (std::count(task.spec.rus.begin(), task.spec.rus.end(), ru) == 0) continue;
      world_.violated("unit " + std::to_string(ru) + " of " + spec.server + " has two owners");
    }
  }
}

void FakeMonitor::fetch(const monitor::FetchFiles& fetch) {
  fetching_.insert(fetch.allocation);
  connection_.toMaster([this, fetch] {
    connection_.toPeer([this, fetch, files = master_.files(fetch.job)] {
      fetching_.erase(fetch.allocation);
      take(monitor::FilesArrived{fetch.allocation, files});
    });
  });
}

// Tasks start and end whether the monitor lives or not; that it hears of it is an event of its own.
void FakeMonitor::taskStarted(AllocationId allocation, WallTime when) {
  world_.after(Duration::zero(), [this, life = life_, allocation, when] {
    if (life == life_) take(monitor::TaskStarted{allocation, when});
  });
}

void FakeMonitor::taskEnded(AllocationId allocation, const TaskEnd& end) {
  disk_[allocation].state = RecoveredTask::State::kEnded;
  disk_[allocation].end = end;
  world_.after(Duration::zero(), [this, life = life_, allocation, end] {
    if (life == life_) take(monitor::TaskEnded{allocation, end});
  });
}

void FakeMonitor::advanceLater() {
  const std::optional<MonotonicTime> next = executor_->nextWake();
  if (!next) return executorTimer_.clear();
  executorTimer_.set(*next, [this] {
    executor_->advance(world_.now());
    advanceLater();
  });
}

}  // namespace tarcil
