#include "monitor/logic/monitor_logic.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "monitor/logic/holdings.h"
#include "monitor/logic/tombstones.h"

namespace tarcil {

using namespace monitor;

namespace {

constexpr size_t kTombstones = 100'000;
// A lease is renewed this often while it lasts: some renewals may be lost.
constexpr int kRenewalsPerLease = 4;
// Reports in one message: a few hundred kilobytes.
constexpr size_t kReportsPerMessage = 1'000;
// Between tries to fetch files from a master that is attached and yet says Unavailable.
constexpr Duration kFetchRetry = std::chrono::seconds(1);

// In the order of MonitorLogic::Load.
enum class Phase : uint8_t {
  kFetching,  // its input files are not here yet
  kReady,     // waits for its units and extras, or for the first word from the master
  kStarting,  // handed to the executor
  kRunning,   // its command was executed
  kEnded,     // its end is to be reported
};

// Why the monitor ends a task that would have run on.
enum class Intent : uint8_t { kNone, kStop, kTimeOut, kDrop };

Intent intentOf(const std::optional<EndCause>& reason) {
  if (!reason) return Intent::kNone;
  return *reason == EndCause::kTimedOut ? Intent::kTimeOut : Intent::kStop;
}

constexpr const char* kStoppedUnstarted = "stopped before it was started";

struct Task {
  LaunchSpec spec;
  Phase phase = Phase::kReady;
  Intent intent = Intent::kNone;
  bool killed = false;     // SIGKILL was sent; before that, an intent means that SIGTERM was
  bool allowed = true;     // to start; an exclusive one when the master says so
  bool recorded = true;    // false: a stop that came before its launch; only spec.allocation is filled
  bool reportDue = false;  // is in State::due
  WallTime started = kNever;
  TaskEnd end;                         // in kEnded
  std::vector<InputFile> files;        // in kReady
  std::optional<MonotonicTime> alarm;  // its entry in State::alarms

  bool holdsUnits() const { return phase == Phase::kStarting || phase == Phase::kRunning; }
};

// The handling of one event.
struct EventContext {
  Now now;
  std::vector<Action>& actions;

  template <typename OneAction>
  void act(OneAction action) {
    actions.emplace_back(std::move(action));
  }
};

// "10m", "1h30m", "2.5s".
std::string inWords(Duration duration) {
  const int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration).count();
  std::string text;
  if (seconds >= 3600) text += std::to_string(seconds / 3600) + "h";
  if (seconds / 60 % 60 != 0) text += std::to_string(seconds / 60 % 60) + "m";
  std::string fraction = std::to_string(duration.count() % 1'000'000 + 1'000'000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (seconds % 60 != 0 || !fraction.empty() || text.empty()) text += std::to_string(seconds % 60);
  if (!fraction.empty()) text += "." + fraction;
  if (text.back() >= '0' && text.back() <= '9') text += "s";
  return text;
}

// The end as the executor saw it, with the reason that only the monitor knows.
TaskEnd withIntent(const Task& task, TaskEnd end) {
  if (end.started == kNever) end.started = task.started;
  if (task.intent == Intent::kStop) end.cause = EndCause::kCancelled;
  if (task.intent == Intent::kTimeOut && end.cause == EndCause::kExited) {
    end.cause = EndCause::kTimedOut;
    end.problem = "ran longer than its timeout of " + inWords(task.spec.timeout);
  }
  return end;
}

TaskEnd endWithoutStart(EndCause cause, std::string problem, Now now) {
  TaskEnd end;
  end.cause = cause;
  end.problem = std::move(problem);
  end.ended = now.wall;
  return end;
}

}  // namespace

struct MonitorLogic::State {
  explicit State(std::vector<std::string> names) : servers(names.begin(), names.end()) {}

  void adopt(const RecoveredTask& recovered, EventContext& context);

  void on(const MasterAttached& event, EventContext& context);
  void on(const MasterLost& event, EventContext& context);
  void on(const LaunchArrived& event, EventContext& context);
  void on(const FilesArrived& event, EventContext& context);
  void on(const StopArrived& event, EventContext& context);
  void on(const ResizeArrived& event, EventContext& context);
  void on(const TaskResized& event, EventContext& context);
  void on(const TaskStarted& event, EventContext& context);
  void on(const TaskEnded& event, EventContext& context);
  void on(const ReportsAcknowledged& event, EventContext& context);
  void on(const LeaseRenewed& event, EventContext& context);
  void on(const TimerFired& event, EventContext& context);

  void admit(const LaunchSpec& spec, EventContext& context);
  void fetch(const Task& task, EventContext& context);
  void startReady(EventContext& context);
  bool mayStart(const Task& task, const EventContext& context);  // of an exclusive job
  void start(Task& task, EventContext& context);

  void stop(AllocationId allocation, EventContext& context);
  void drop(AllocationId allocation, EventContext& context);
  void terminate(Task& task, Intent intent, EventContext& context);
  void ask(Task& task, Intent intent, EventContext& context);
  void kill(Task& task, EventContext& context);
  void finish(Task& task, TaskEnd end, EventContext& context);
  void forget(AllocationId allocation, EventContext& context);

  void renewLease(EventContext& context);
  void setAlarm(Task& task, MonotonicTime when);
  void clearAlarm(Task& task);
  void ring(Task& task, EventContext& context);

  void queueReport(Task& task);
  void sendReports(EventContext& context);
  void wake(EventContext& context);

  Task* find(AllocationId allocation) {
    const auto found = tasks.find(allocation);
    return found == tasks.end() ? nullptr : &found->second;
  }

  const std::set<std::string> servers;
  std::map<AllocationId, Task> tasks;  // not forgotten
  Tombstones tombstones{kTombstones};
  bool attached = false;
  bool heardMaster = false;  // attached at least once since this process started

  std::set<AllocationId> ready;  // tasks in kReady
  Holdings held;                 // of tasks in kStarting and kRunning

  // The lease, which tasks of exclusive jobs need: what the latest renewal gives, counted from when it was
  // asked for.
  struct Lease {
    Duration length = Duration::max();
    MonotonicTime until{};
    MonotonicTime renewAt{};               // while attached and no renewal is under way
    std::optional<MonotonicTime> askedAt;  // of the renewal under way
    std::set<AllocationId> asking, toAsk;  // tasks: named in it; to be named in the next
  } lease;

  // What a report says is decided when it is sent: started, or ended if it has come to that.
  std::deque<AllocationId> due;
  std::vector<std::pair<AllocationId, bool>> underWay;  // with `ended` of the report

  // One alarm a task: to fetch again, to end it at its timeout, to kill it after its grace period.
  std::set<std::pair<MonotonicTime, AllocationId>> alarms;
  std::optional<MonotonicTime> wakeAt;  // the latest WakeAt that has not fired
};

// --- Launch -------------------------------------------------------------------------------------------

void MonitorLogic::State::on(const LaunchArrived& event, EventContext& context) {
  using Outcome = AnswerLaunch::Outcome;
  const AllocationId allocation = event.spec.allocation;
  Outcome outcome = Outcome::kAccepted;
  if (!servers.contains(event.spec.server)) {
    outcome = Outcome::kUnknownServer;
  } else if (tombstones.contains(allocation)) {
    outcome = Outcome::kRevoked;
  } else if (!tasks.contains(allocation)) {
    context.act(RecordLaunch{event.spec});
    context.act(AnswerLaunch{event.request, outcome});
    admit(event.spec, context);
    startReady(context);
    return;
  }
  context.act(AnswerLaunch{event.request, outcome});
}

void MonitorLogic::State::admit(const LaunchSpec& spec, EventContext& context) {
  Task& task = tasks.try_emplace(spec.allocation).first->second;
  task.spec = spec;
  task.allowed = !spec.exclusive;
  if (spec.hasFiles) {
    task.phase = Phase::kFetching;
    if (attached) fetch(task, context);
  } else {
    ready.insert(spec.allocation);
  }
}

void MonitorLogic::State::fetch(const Task& task, EventContext& context) {
  context.act(FetchFiles{task.spec.allocation, task.spec.job});
}

void MonitorLogic::State::on(const FilesArrived& event, EventContext& context) {
  Task* task = find(event.allocation);
  if (task == nullptr || task->phase != Phase::kFetching) return;
  if (event.files.ok()) {
    clearAlarm(*task);
    task->phase = Phase::kReady;
    task->files = *event.files;
    ready.insert(event.allocation);
    startReady(context);
  } else if (event.files.error().code != ErrorCode::kUnavailable) {
    const std::string problem = "its input files could not be had: " + event.files.error().message;
    finish(*task, endWithoutStart(EndCause::kNeverStarted, problem, context.now), context);
  } else if (attached) {
    setAlarm(*task, context.now.steady + kFetchRetry);
  }
}

void MonitorLogic::State::startReady(EventContext& context) {
  if (!heardMaster) return;
  for (auto next = ready.begin(); next != ready.end();) {
    Task& task = tasks.at(*next);
    // An earlier task holds some of it only where the master and this monitor disagree for a moment; both
    // running at once would break the promise that nothing has two owners.
    const bool starts = held.areFree(task.spec) && (!task.spec.exclusive || mayStart(task, context));
    next = starts ? ready.erase(next) : std::next(next);
    if (starts) start(task, context);
  }
}

bool MonitorLogic::State::mayStart(const Task& task, const EventContext& context) {
  if (task.allowed && context.now.steady < lease.until) return true;
  lease.toAsk.insert(task.spec.allocation);
  return false;
}

void MonitorLogic::State::start(Task& task, EventContext& context) {
  task.phase = Phase::kStarting;
  held.take(task.spec);
  context.act(StartTask{task.spec, std::exchange(task.files, {})});
}

void MonitorLogic::State::on(const TaskStarted& event, EventContext& context) {
  Task* task = find(event.allocation);
  if (task == nullptr || task->phase != Phase::kStarting) return;
  task->phase = Phase::kRunning;
  task->started = event.when;
  if (task->intent != Intent::kNone) {
    // The signal may have come before there was a command to get it.
    context.act(SignalTask{event.allocation, task->killed ? SIGKILL : SIGTERM});
  } else if (task->spec.timeout > Duration::zero()) {
    setAlarm(*task, context.now.steady + task->spec.timeout);
  }
  if (task->intent != Intent::kDrop) queueReport(*task);
}

// --- Units ----------------------------------------------------------------------------------------------

void MonitorLogic::State::on(const ResizeArrived& event, EventContext& context) {
  const Task* task = find(event.allocation);
  if (task == nullptr || task->phase != Phase::kRunning || task->intent != Intent::kNone) {
    context.act(RefuseResize{event.request, notFound("this task is not running here")});
    return;
  }
  LaunchSpec wanted = task->spec;
  wanted.extras.clear();
  wanted.rus.clear();
  for (const RuIndex ru : event.rus) {
    if (std::ranges::find(task->spec.rus, ru) == task->spec.rus.end()) wanted.rus.push_back(ru);
  }
  if (event.rus.empty() || !held.areFree(wanted)) {
    context.act(
        RefuseResize{event.request, Error{ErrorCode::kConflict, "another task has one of these units"}});
    return;
  }
  context.act(ResizeTask{event.request, event.allocation, event.rus});
}

void MonitorLogic::State::on(const TaskResized& event, EventContext& context) {
  Task* task = find(event.allocation);
  if (task == nullptr || !task->holdsUnits()) return;
  held.release(task->spec);
  task->spec.rus = event.rus;
  held.take(task->spec);
  startReady(context);
}

// --- End ----------------------------------------------------------------------------------------------

void MonitorLogic::State::on(const StopArrived& event, EventContext& context) {
  stop(event.allocation, context);
}

void MonitorLogic::State::stop(AllocationId allocation, EventContext& context) {
  Task* task = find(allocation);
  if (task == nullptr) {
    if (!tombstones.contains(allocation)) {
      tombstones.add(allocation);
      context.act(ForgetTask{allocation});  // before anybody is told that it will never start
    }
    Task& refused = tasks[allocation];
    refused.spec.allocation = allocation;
    refused.recorded = false;
    finish(refused, endWithoutStart(EndCause::kCancelled, "stopped before it arrived", context.now), context);
  } else if (task->holdsUnits()) {
    if (task->intent == Intent::kNone) terminate(*task, Intent::kStop, context);
  } else if (task->phase != Phase::kEnded) {
    finish(*task, endWithoutStart(EndCause::kCancelled, kStoppedUnstarted, context.now), context);
  }
}

void MonitorLogic::State::drop(AllocationId allocation, EventContext& context) {
  tombstones.add(allocation);
  Task* task = find(allocation);
  if (task == nullptr) return;
  task->intent = Intent::kDrop;
  if (task->holdsUnits()) {
    clearAlarm(*task);
    kill(*task, context);
  } else {
    forget(allocation, context);
  }
}

void MonitorLogic::State::terminate(Task& task, Intent intent, EventContext& context) {
  context.act(RecordReason{task.spec.allocation,
                           intent == Intent::kTimeOut ? EndCause::kTimedOut : EndCause::kCancelled});
  ask(task, intent, context);
}

void MonitorLogic::State::ask(Task& task, Intent intent, EventContext& context) {
  task.intent = intent;
  context.act(SignalTask{task.spec.allocation, SIGTERM});
  setAlarm(task, context.now.steady + task.spec.grace);
}

void MonitorLogic::State::kill(Task& task, EventContext& context) {
  task.killed = true;
  context.act(SignalTask{task.spec.allocation, SIGKILL});
}

void MonitorLogic::State::on(const TaskEnded& event, EventContext& context) {
  Task* task = find(event.allocation);
  if (task == nullptr || !task->holdsUnits()) return;
  finish(*task, withIntent(*task, event.end), context);
}

void MonitorLogic::State::finish(Task& task, TaskEnd end, EventContext& context) {
  clearAlarm(task);
  ready.erase(task.spec.allocation);
  const bool releases = task.holdsUnits();
  if (releases) held.release(task.spec);
  task.phase = Phase::kEnded;
  task.end = std::move(end);
  task.files.clear();
  if (task.intent == Intent::kDrop) {
    forget(task.spec.allocation, context);
  } else {
    queueReport(task);
  }
  if (releases) startReady(context);
}

// Requires: the task holds no units.
void MonitorLogic::State::forget(AllocationId allocation, EventContext& context) {
  const auto task = tasks.find(allocation);
  const bool recorded = task->second.recorded;
  clearAlarm(task->second);
  ready.erase(allocation);
  tasks.erase(task);
  tombstones.add(allocation);
  if (recorded) context.act(ForgetTask{allocation});
}

// --- Time ---------------------------------------------------------------------------------------------

void MonitorLogic::State::setAlarm(Task& task, MonotonicTime when) {
  clearAlarm(task);
  task.alarm = when;
  alarms.insert({when, task.spec.allocation});
}

void MonitorLogic::State::clearAlarm(Task& task) {
  if (task.alarm) alarms.erase({*task.alarm, task.spec.allocation});
  task.alarm.reset();
}

void MonitorLogic::State::on(const TimerFired&, EventContext& context) {
  wakeAt.reset();
  while (!alarms.empty() && alarms.begin()->first <= context.now.steady) {
    Task& task = tasks.at(alarms.begin()->second);
    clearAlarm(task);
    ring(task, context);
  }
}

void MonitorLogic::State::ring(Task& task, EventContext& context) {
  if (task.phase == Phase::kFetching) {
    if (attached) fetch(task, context);
  } else if (task.intent == Intent::kNone) {
    terminate(task, Intent::kTimeOut, context);
  } else {
    kill(task, context);
  }
}

// A renewal is due from time to time, and as soon as a task needs one.
void MonitorLogic::State::renewLease(EventContext& context) {
  if (!attached || lease.askedAt || lease.length == Duration::max()) return;
  if (lease.toAsk.empty() && context.now.steady < lease.renewAt) return;
  lease.askedAt = context.now.steady;
  lease.asking = std::exchange(lease.toAsk, {});
  context.act(RenewLease{{lease.asking.begin(), lease.asking.end()}});
}

void MonitorLogic::State::on(const LeaseRenewed& event, EventContext& context) {
  if (!lease.askedAt) return;
  lease.until = *lease.askedAt + lease.length;
  lease.renewAt = *lease.askedAt + lease.length / kRenewalsPerLease;
  lease.askedAt.reset();
  context.act(ExtendLease{lease.until});
  for (AllocationId allocation : event.refused) {
    lease.asking.erase(allocation);
    drop(allocation, context);
  }
  for (AllocationId allocation : std::exchange(lease.asking, {})) {
    if (Task* task = find(allocation)) task->allowed = true;
  }
  startReady(context);
}

void MonitorLogic::State::wake(EventContext& context) {
  std::optional<MonotonicTime> due;
  if (!alarms.empty()) due = alarms.begin()->first;
  const bool renews = attached && !lease.askedAt && lease.length != Duration::max();
  if (renews && (!due || lease.renewAt < *due)) due = lease.renewAt;
  if (!due) return;
  const MonotonicTime next = *due;
  // Waking too early is harmless, so an alarm that was cleared is not taken back.
  if (wakeAt && *wakeAt <= next) return;
  wakeAt = next;
  context.act(WakeAt{next});
}

// --- Master -------------------------------------------------------------------------------------------

void MonitorLogic::State::on(const MasterAttached& event, EventContext& context) {
  attached = true;
  heardMaster = true;
  lease.length = event.lease;
  lease.renewAt = context.now.steady;
  lease.askedAt.reset();
  // What was asked for before may have been given to others meanwhile, also where the answer said that it had
  // not.
  lease.asking.clear();
  for (auto& [allocation, task] : tasks) task.allowed = !task.spec.exclusive;
  // A message that was under way counts as lost, and everything is reported anew.
  underWay.clear();
  due.clear();
  for (auto& [allocation, task] : tasks) {
    task.reportDue = false;
    const bool tells = task.phase == Phase::kRunning || task.phase == Phase::kEnded;
    if (tells && task.intent != Intent::kDrop) queueReport(task);
  }
  for (AllocationId allocation : event.drop) drop(allocation, context);
  for (AllocationId allocation : event.stop) stop(allocation, context);
  for (auto& [allocation, task] : tasks) {
    if (task.phase == Phase::kFetching) fetch(task, context);
  }
  startReady(context);
}

void MonitorLogic::State::on(const MasterLost&, EventContext&) {
  attached = false;
}

void MonitorLogic::State::queueReport(Task& task) {
  if (std::exchange(task.reportDue, true)) return;
  due.push_back(task.spec.allocation);
}

void MonitorLogic::State::sendReports(EventContext& context) {
  if (!attached || !underWay.empty()) return;
  SendReports message;
  for (; !due.empty() && message.reports.size() < kReportsPerMessage; due.pop_front()) {
    Task* task = find(due.front());
    if (task == nullptr || !task->reportDue || task->intent == Intent::kDrop) continue;
    task->reportDue = false;
    TaskReport report{task->spec.allocation, task->phase == Phase::kEnded, task->end};
    if (!report.ended) report.end.started = task->started;
    if (report.ended && task->spec.measures) message.measuring.push_back(message.reports.size());
    underWay.emplace_back(report.allocation, report.ended);
    message.reports.push_back(std::move(report));
  }
  if (!message.reports.empty()) context.act(std::move(message));
}

void MonitorLogic::State::on(const ReportsAcknowledged&, EventContext& context) {
  for (const auto& [allocation, ended] : std::exchange(underWay, {})) {
    if (ended && tasks.contains(allocation)) forget(allocation, context);
  }
}

// --- The machine --------------------------------------------------------------------------------------

void MonitorLogic::State::adopt(const RecoveredTask& recovered, EventContext& context) {
  const LaunchSpec& spec = recovered.spec;
  if (recovered.state == RecoveredTask::State::kForgotten) {
    tombstones.add(spec.allocation);
    return;
  }
  if (recovered.state == RecoveredTask::State::kNeverStarted && !recovered.reason) {
    admit(spec, context);
    return;
  }
  Task& task = tasks.try_emplace(spec.allocation).first->second;
  task.spec = spec;
  task.intent = intentOf(recovered.reason);
  if (recovered.state == RecoveredTask::State::kNeverStarted) {
    finish(task, endWithoutStart(EndCause::kCancelled, kStoppedUnstarted, context.now), context);
    return;
  }
  if (recovered.state == RecoveredTask::State::kEnded) {
    finish(task, withIntent(task, recovered.end), context);
    return;
  }
  // Its command may not be executed yet, or only just: then the executor tells.
  task.phase = recovered.started == kNever ? Phase::kStarting : Phase::kRunning;
  task.started = recovered.started;
  held.take(spec);
  if (task.intent != Intent::kNone) {
    ask(task, task.intent, context);  // again: the predecessor may not have come to it
    return;
  }
  if (task.phase == Phase::kRunning && spec.timeout > Duration::zero()) {
    const Duration left = spec.timeout - (context.now.wall - recovered.started);
    setAlarm(task, context.now.steady + std::clamp(left, Duration::zero(), spec.timeout));
  }
}

MonitorLogic::MonitorLogic(std::vector<std::string> servers, const std::vector<RecoveredTask>& recovered,
                           Now now, std::vector<Action>& actions)
    : state_(std::make_unique<State>(std::move(servers))) {
  EventContext context{now, actions};
  for (const RecoveredTask& task : recovered) state_->adopt(task, context);
  state_->wake(context);
}

MonitorLogic::~MonitorLogic() = default;

void MonitorLogic::handle(const Event& event, Now now, Rng&, std::vector<Action>& actions) {
  EventContext context{now, actions};
  std::visit([state = state_.get(), &context](const auto& happened) { state->on(happened, context); }, event);
  state_->sendReports(context);
  state_->renewLease(context);
  state_->wake(context);
}

MonitorLogic::Load MonitorLogic::load() const {
  Load load;
  for (const auto& [allocation, task] : state_->tasks) ++load.tasks[static_cast<size_t>(task.phase)];
  load.reportsDue = state_->due.size();
  load.reportsUnderWay = state_->underWay.size();
  return load;
}

std::vector<KnownTask> MonitorLogic::knownTasks() const {
  std::vector<KnownTask> known;
  for (const auto& [allocation, task] : state_->tasks) {
    if (task.recorded) known.push_back({allocation, task.spec.server});
  }
  return known;
}

}  // namespace tarcil
