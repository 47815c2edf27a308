// Random lives of a monitor: repeated launches, stops, lost links, crashes. Whatever comes, no allocation is
// started twice, none is started after it was stopped, each end reaches the master once, with the reason for
// which the monitor brought it about, and pending time has a timer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <set>

#include "monitor/logic/monitor_logic.h"

namespace tarcil::monitor_logic_property_test {

using namespace monitor;
using namespace std::chrono_literals;

constexpr uint32_t kRus = 4;

// What is on the monitor's disk and in its containers: outlives a crash of the monitor.
struct Container {
  LaunchSpec spec;
  enum class State : uint8_t { kRecorded, kExecuting, kRunning, kEnded, kForgotten } state = State::kRecorded;
  WallTime started = kNever;
  TaskEnd end;
  bool endTold = false;  // to the living monitor
  int executions = 0;
  int lastSignal = 0;
  std::optional<EndCause> reason;  // that was written down
};

// What the master knows of an allocation that it gave.
struct Granted {
  LaunchSpec spec;
  bool stopAsked = false;  // durable: asked again on attachment
  bool ended = false;      // its end was reported
  bool droppedByMaster = false;
  bool stoppedUnseen = false;  // the stop came before any launch of it
};

class World {
 public:
  explicit World(uint64_t seed) : rng_(seed) { restart(); }

  void step() {
    switch (rng_.below(14)) {
      case 0:
      case 1:
        return launchNew();
      case 2:
      case 3:
        return launchAgain();
      case 4:
        return askStop();
      case 5:
      case 6:
        return execute();
      case 7:
      case 8:
        return end();
      case 9:
        return answerFiles();
      case 10:
        return acknowledge();
      case 11:
        return link_ ? lose() : attach();
      case 12:
        return pass(rng_.below(20) * 1s);
      default:
        return rng_.below(4) == 0 ? crash() : tellEnds();
    }
  }

  // Lets everything come to its end with an attentive master.
  void settle() {
    for (int round = 0; round < 200; ++round) {
      if (!link_) attach();
      execute(true);
      end(true);
      tellEnds();
      answerFiles(true);
      while (underWay_) acknowledge();
      pass(20s);
    }
  }

  void expectAllEnded() const {
    for (const auto& [id, container] : disk_) {
      EXPECT_EQ(container.state, Container::State::kForgotten) << "allocation " << id;
    }
    for (const auto& [id, granted] : master_) {
      const bool reached = disk_.contains(id) || granted.stopAsked;
      EXPECT_EQ(granted.ended, reached && !granted.droppedByMaster) << "allocation " << id;
    }
    EXPECT_TRUE(logic_->knownTasks().empty());
  }

  int executions() const { return executions_; }

 private:
  // --- The master and the agents ---

  void launchNew() {
    LaunchSpec spec;
    spec.allocation = next_++;
    spec.server = "s1";
    spec.rus = {static_cast<RuIndex>(rng_.below(kRus))};
    spec.hasFiles = rng_.below(3) == 0;
    if (rng_.below(3) == 0) spec.timeout = 30s;
    master_[spec.allocation].spec = spec;
    if (rng_.below(4) != 0) launch(spec);  // else the launch is under way for a while
  }

  void launchAgain() {
    if (const auto id = anyGranted()) launch(master_.at(*id).spec);
  }

  void launch(const LaunchSpec& spec) { tell(LaunchArrived{++request_, spec}); }

  void askStop() {
    const auto id = anyGranted();
    if (!id || master_.at(*id).ended || master_.at(*id).droppedByMaster) return;
    master_.at(*id).stopAsked = true;
    if (!link_) return;
    noteStop(*id);
    tell(StopArrived{*id});
  }

  void noteStop(AllocationId id) {
    if (!disk_.contains(id)) master_.at(id).stoppedUnseen = true;
  }

  void attach() {
    link_ = true;
    underWay_.reset();
    MasterAttached word;
    std::set<AllocationId> known;
    for (const KnownTask& task : logic_->knownTasks()) {
      Granted& granted = master_.at(task.allocation);
      known.insert(task.allocation);
      // Sometimes the master has given a task up: its server was away for too long.
      if (!granted.ended && rng_.below(8) == 0) granted.droppedByMaster = true;
      if (granted.droppedByMaster) word.drop.push_back(task.allocation);
    }
    for (auto& [id, granted] : master_) {
      if (!granted.stopAsked || granted.ended || granted.droppedByMaster) continue;
      noteStop(id);
      word.stop.push_back(id);
    }
    tell(word);
  }

  void lose() {
    link_ = false;
    underWay_.reset();
    tell(MasterLost{});
    failFetches();
  }

  void acknowledge() {
    if (!underWay_) return;
    const auto reports = std::exchange(underWay_, std::nullopt);
    for (const TaskReport& report : *reports) {
      Granted& granted = master_.at(report.allocation);
      if (!report.ended) continue;
      EXPECT_FALSE(std::exchange(granted.ended, true)) << "ended twice: " << report.allocation;
      EXPECT_FALSE(granted.droppedByMaster) << "reported though dropped: " << report.allocation;
      const auto container = disk_.find(report.allocation);
      if (container == disk_.end() || !container->second.reason) continue;
      const TaskEnd& end = container->second.end;
      // It had ended when its time ran out, and nobody had been told.
      if (container->second.reason == EndCause::kTimedOut && end.signal == 0 &&
          end.ended - end.started < container->second.spec.timeout) {
        EXPECT_EQ(report.end.cause, EndCause::kExited) << "allocation " << report.allocation;
        continue;
      }
      EXPECT_EQ(report.end.cause, *container->second.reason) << "allocation " << report.allocation;
    }
    tell(ReportsAcknowledged{});
  }

  std::optional<AllocationId> anyGranted() {
    if (master_.empty()) return std::nullopt;
    // The newest are the most likely to be in an interesting state.
    const size_t back = rng_.below(std::min<size_t>(master_.size(), 8));
    return std::prev(master_.end(), static_cast<ptrdiff_t>(back) + 1)->first;
  }

  // --- The executor ---

  void execute(bool all = false) {
    for (auto& [id, container] : disk_) {
      if (container.state != Container::State::kExecuting || (!all && rng_.below(2) == 0)) continue;
      EXPECT_EQ(++container.executions, 1) << "started twice: " << id;
      ++executions_;
      container.state = Container::State::kRunning;
      container.started = now_.wall;
      tell(TaskStarted{id, now_.wall});
    }
  }

  void end(bool all = false) {
    for (auto& [id, container] : disk_) {
      const bool mayEnd =
          container.state == Container::State::kRunning ||
          (container.state == Container::State::kExecuting && container.lastSignal == SIGKILL);
      if (!mayEnd || (!all && rng_.below(3) != 0)) continue;
      container.end.started = container.started;
      container.end.ended = now_.wall;
      container.end.signal = container.lastSignal;
      container.state = Container::State::kEnded;
    }
  }

  void tellEnds() {
    for (auto& [id, container] : disk_) {
      if (container.state != Container::State::kEnded || std::exchange(container.endTold, true)) continue;
      tell(TaskEnded{id, container.end});
    }
  }

  void answerFiles(bool all = false) {
    if (fetches_.empty() || !link_) return;
    for (AllocationId id : std::exchange(fetches_, {})) {
      const uint64_t outcome = all ? 3 : rng_.below(6);
      if (outcome == 0) {
        tell(FilesArrived{id, notFound("no such job")});
      } else if (outcome == 1) {
        tell(FilesArrived{id, Error{ErrorCode::kUnavailable, "busy"}});
      } else {
        tell(FilesArrived{id, std::vector<InputFile>{}});
      }
    }
  }

  void failFetches() {
    for (AllocationId id : std::exchange(fetches_, {})) {
      tell(FilesArrived{id, Error{ErrorCode::kUnavailable, "connection lost"}});
    }
  }

  // --- The monitor's process ---

  void crash() {
    link_ = false;
    underWay_.reset();
    fetches_.clear();
    restart();
  }

  void restart() {
    std::vector<RecoveredTask> recovered;
    for (auto& [id, container] : disk_) {
      using From = Container::State;
      using To = RecoveredTask::State;
      // Half of what was handed over has not come to its command: it never will, but for a new start.
      if (container.state == From::kExecuting && rng_.below(2) == 0) container.state = From::kRecorded;
      if (container.state == From::kExecuting) {
        EXPECT_EQ(++container.executions, 1) << "started twice: " << id;
        ++executions_;
        container.state = From::kRunning;
        container.started = now_.wall;
      }
      const To state = container.state == From::kRecorded    ? To::kNeverStarted
                       : container.state == From::kRunning   ? To::kRunning
                       : container.state == From::kForgotten ? To::kForgotten
                                                             : To::kEnded;
      container.endTold = state == To::kEnded;
      recovered.push_back({container.spec, state, container.started, container.end, container.reason});
    }
    // The steady clock of a new process has nothing to do with the old one's.
    now_.steady = MonotonicTime(std::chrono::seconds(rng_.below(1'000'000)));
    wakeAt_.reset();
    std::vector<Action> actions;
    logic_ = std::make_unique<MonitorLogic>(std::vector<std::string>{"s1"}, recovered, now_, actions);
    carryOut(actions);
  }

  void pass(Duration duration) {
    now_ = {now_.steady + duration, now_.wall + duration};
    if (wakeAt_ && *wakeAt_ <= now_.steady) {
      wakeAt_.reset();
      tell(TimerFired{});
    }
  }

  void tell(const Event& event) {
    std::vector<Action> actions;
    logic_->handle(event, now_, rng_, actions);
    carryOut(actions);
    expectTimers();
    expectUnitsHaveOneOwner();
  }

  void carryOut(const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* record = std::get_if<RecordLaunch>(&action)) {
        EXPECT_FALSE(disk_.contains(record->spec.allocation)) << "recorded twice";
        disk_[record->spec.allocation].spec = record->spec;
      } else if (const auto* start = std::get_if<StartTask>(&action)) {
        started(disk_.at(start->spec.allocation));
      } else if (const auto* reason = std::get_if<RecordReason>(&action)) {
        disk_.at(reason->allocation).reason = reason->reason;
      } else if (const auto* signal = std::get_if<SignalTask>(&action)) {
        Container& container = disk_.at(signal->allocation);
        EXPECT_TRUE(signal->signal != SIGTERM || container.reason)
            << "signalled before the reason was written";
        container.lastSignal = signal->signal;
      } else if (const auto* forget = std::get_if<ForgetTask>(&action)) {
        forgotten(disk_[forget->allocation], forget->allocation);
      } else if (const auto* fetch = std::get_if<FetchFiles>(&action)) {
        fetches_.push_back(fetch->allocation);
      } else if (const auto* reports = std::get_if<SendReports>(&action)) {
        EXPECT_TRUE(link_ && !underWay_) << "reports sent at the wrong time";
        underWay_ = reports->reports;
      } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
        wakeAt_ = wake->when;
      }
    }
  }

  void started(Container& container) {
    EXPECT_EQ(container.state, Container::State::kRecorded);
    EXPECT_FALSE(master_.at(container.spec.allocation).stoppedUnseen) << "started though stopped before";
    container.state = Container::State::kExecuting;
  }

  void forgotten(Container& container, AllocationId id) {
    EXPECT_TRUE(container.state == Container::State::kEnded ||
                container.state == Container::State::kRecorded);
    container.spec.allocation = id;
    container.state = Container::State::kForgotten;
  }

  // A task that was sent SIGTERM and runs on must be killed later, one with a timeout must be ended later.
  void expectTimers() const {
    for (const auto& [id, container] : disk_) {
      if (container.state != Container::State::kRunning || container.lastSignal == SIGKILL) continue;
      const bool pending = container.lastSignal == SIGTERM || container.spec.timeout > 0s;
      if (!pending) continue;
      ASSERT_TRUE(wakeAt_) << "no timer for " << id;
      EXPECT_LE(*wakeAt_, now_.steady + std::max(container.spec.timeout, container.spec.grace));
    }
  }

  void expectUnitsHaveOneOwner() const {
    std::map<RuIndex, AllocationId> owners;
    for (const auto& [id, container] : disk_) {
      const bool holds = container.state == Container::State::kExecuting ||
                         container.state == Container::State::kRunning ||
                         (container.state == Container::State::kEnded && !container.endTold);
      if (!holds) continue;
      for (RuIndex ru : container.spec.rus)
        EXPECT_TRUE(owners.emplace(ru, id).second) << "two owners: " << ru;
    }
  }

  Rng rng_;
  Now now_{MonotonicTime(1000s), WallTime(1'700'000'000s)};
  std::unique_ptr<MonitorLogic> logic_;
  std::map<AllocationId, Container> disk_;
  std::map<AllocationId, Granted> master_;
  AllocationId next_ = 1;
  RequestId request_ = 0;
  bool link_ = false;
  std::optional<std::vector<TaskReport>> underWay_;
  std::vector<AllocationId> fetches_;
  std::optional<MonotonicTime> wakeAt_;
  int executions_ = 0;
};

TEST(MonitorLogicProperty, KeepsItsPromisesThroughAnything) {
  int executions = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int i = 0; i < 300; ++i) world.step();
    world.settle();
    world.expectAllEnded();
    executions += world.executions();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(executions, 3'000) << "the random lives have become too dull to prove anything";
}

}  // namespace tarcil::monitor_logic_property_test
