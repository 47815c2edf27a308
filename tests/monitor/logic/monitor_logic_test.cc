#include "monitor/logic/monitor_logic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace tarcil::monitor_logic_test {

using namespace monitor;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = AnswerLaunch::Outcome;

LaunchSpec task(AllocationId allocation, std::vector<RuIndex> rus = {0}) {
  LaunchSpec spec;
  spec.allocation = allocation;
  spec.server = "s1";
  spec.rus = std::move(rus);
  spec.command = {"work"};
  return spec;
}

LaunchSpec withGpus(LaunchSpec spec, std::vector<uint16_t> numbers) {
  spec.extras["gpus"] = std::move(numbers);
  return spec;
}

LaunchSpec withFiles(LaunchSpec spec) {
  spec.hasFiles = true;
  return spec;
}

LaunchSpec withTimeout(LaunchSpec spec, Duration timeout) {
  spec.timeout = timeout;
  return spec;
}

TaskEnd exited(int code) {
  TaskEnd end;
  end.exitCode = code;
  return end;
}

TaskEnd killedBy(int signal) {
  TaskEnd end;
  end.signal = signal;
  return end;
}

RecoveredTask recovered(LaunchSpec spec, RecoveredTask::State state) {
  RecoveredTask task;
  task.spec = std::move(spec);
  task.state = state;
  return task;
}

const Now kStart{MonotonicTime(1000s), WallTime(1'700'000'000s)};

// A monitor of server s1; remembers what the last event led to.
class Monitor {
 public:
  explicit Monitor(const std::vector<RecoveredTask>& recovered = {})
      : logic({"s1"}, recovered, now, actions) {}

  Monitor& tell(const Event& event) {
    actions.clear();
    logic.handle(event, now, rng, actions);
    return *this;
  }
  Monitor& attach(std::vector<AllocationId> drop = {}, std::vector<AllocationId> stop = {}) {
    return tell(MasterAttached{std::move(drop), std::move(stop)});
  }
  // With leases of 40 s.
  Monitor& attachWithLease() { return tell(MasterAttached{{}, {}, 40s}); }
  Monitor& launch(LaunchSpec spec) { return tell(LaunchArrived{++requests, std::move(spec)}); }
  // Launches, and says that the command was executed.
  Monitor& run(LaunchSpec spec) { return launch(spec).tell(TaskStarted{spec.allocation, now.wall}); }
  Monitor& after(Duration duration) {
    now = {now.steady + duration, now.wall + duration};
    return tell(TimerFired{});
  }

  template <typename T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const Action& action : actions) {
      if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
  }
  Outcome answer() const { return all<AnswerLaunch>().at(0).outcome; }
  std::vector<AllocationId> startedTasks() const {
    std::vector<AllocationId> started;
    for (const auto& start : all<StartTask>()) started.push_back(start.spec.allocation);
    return started;
  }
  std::vector<AllocationId> forgotten() const {
    std::vector<AllocationId> forgotten;
    for (const auto& forget : all<ForgetTask>()) forgotten.push_back(forget.allocation);
    return forgotten;
  }
  std::vector<int> signals() const {
    std::vector<int> signals;
    for (const auto& signal : all<SignalTask>()) signals.push_back(signal.signal);
    return signals;
  }
  std::vector<TaskReport> reports() const {
    const auto messages = all<SendReports>();
    return messages.empty() ? std::vector<TaskReport>{} : messages.at(0).reports;
  }

  Now now = kStart;
  Rng rng{1};
  RequestId requests = 0;
  std::vector<Action> actions;
  MonitorLogic logic;
};

class AttachedMonitor : public Monitor {
 public:
  explicit AttachedMonitor(const std::vector<RecoveredTask>& recovered = {}) : Monitor(recovered) {
    attach();
  }
};

// --- Launch -------------------------------------------------------------------------------------------

TEST(MonitorLogic, RecordsBeforeItAnswersAndStarts) {
  AttachedMonitor monitor;
  monitor.launch(task(1));
  ASSERT_THAT(monitor.actions, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<RecordLaunch>(monitor.actions[0]));
  EXPECT_TRUE(std::holds_alternative<AnswerLaunch>(monitor.actions[1]));
  EXPECT_TRUE(std::holds_alternative<StartTask>(monitor.actions[2]));
}

TEST(MonitorLogic, ReportsTheImageOfATaskWithItsStart) {
  AttachedMonitor monitor;
  LaunchSpec spec = task(1);
  spec.container.image = "oci:/a";
  monitor.launch(spec).tell(ImageFound{1, "sha256:1"});
  EXPECT_THAT(monitor.reports(), IsEmpty());
  monitor.tell(TaskStarted{1, monitor.now.wall});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].image, "sha256:1");
  // The master may not have heard.
  monitor.tell(MasterLost{}).attach();
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].image, "sha256:1");
  monitor.tell(ReportsAcknowledged{}).tell(ImageFound{2, "sha256:1"});
  EXPECT_THAT(monitor.actions, IsEmpty()) << "of a task that is not known";
}

TEST(MonitorLogic, AcceptsARepeatedLaunchWithoutStartingItAgain) {
  AttachedMonitor monitor;
  monitor.launch(task(1));
  for (int repeat = 0; repeat < 2; ++repeat) {
    monitor.launch(task(1));
    EXPECT_EQ(monitor.answer(), Outcome::kAccepted);
    EXPECT_THAT(monitor.actions, SizeIs(1));
    monitor.tell(TaskEnded{1, exited(0)});
  }
}

TEST(MonitorLogic, RefusesALaunchForAnotherServer) {
  AttachedMonitor monitor;
  LaunchSpec spec = task(1);
  spec.server = "elsewhere";
  monitor.launch(spec);
  EXPECT_EQ(monitor.answer(), Outcome::kUnknownServer);
  EXPECT_THAT(monitor.logic.knownTasks(), IsEmpty());
}

TEST(MonitorLogic, RefusesALaunchOfAForgottenTask) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{}).tell(TaskEnded{1, exited(0)}).tell(ReportsAcknowledged{});
  EXPECT_THAT(monitor.forgotten(), ElementsAre(1u));
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kRevoked);
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
}

TEST(MonitorLogic, RefusesALaunchThatItsPredecessorForgot) {
  AttachedMonitor monitor({recovered(task(1), RecoveredTask::State::kForgotten)});
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kRevoked);
}

TEST(MonitorLogic, StartsNothingBeforeItHasHeardTheMaster) {
  Monitor monitor;
  monitor.launch(task(1));
  EXPECT_EQ(monitor.answer(), Outcome::kAccepted);
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.attach().startedTasks(), ElementsAre(1u));
}

TEST(MonitorLogic, StartsTasksWhileTheMasterIsAway) {
  AttachedMonitor monitor;
  monitor.tell(MasterLost{});
  EXPECT_THAT(monitor.launch(task(1)).startedTasks(), ElementsAre(1u));
}

TEST(MonitorLogic, StartsATaskOnHeldUnitsOnlyWhenTheirHolderHasEnded) {
  AttachedMonitor monitor;
  monitor.launch(task(1, {0, 1}));
  monitor.launch(task(2, {1, 2}));
  EXPECT_EQ(monitor.answer(), Outcome::kAccepted);
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.launch(task(3, {3})).startedTasks(), ElementsAre(3u));
  EXPECT_THAT(monitor.tell(TaskEnded{1, exited(0)}).startedTasks(), ElementsAre(2u));
}

TEST(MonitorLogic, StartsATaskOnHeldExtrasOnlyWhenTheirHolderHasEnded) {
  AttachedMonitor monitor;
  monitor.launch(withGpus(task(1, {0}), {0, 1}));
  EXPECT_THAT(monitor.launch(withGpus(task(2, {1}), {1, 2})).startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.launch(withGpus(task(3, {2}), {3})).startedTasks(), ElementsAre(3u));
  LaunchSpec other = task(4, {3});
  other.extras["tapes"] = {0};
  EXPECT_THAT(monitor.launch(other).startedTasks(), ElementsAre(4u));
  EXPECT_THAT(monitor.tell(TaskEnded{1, exited(0)}).startedTasks(), ElementsAre(2u));
}

TEST(MonitorLogic, GivesTheUnitsOfATaskBackThatCouldNotBeStarted) {
  AttachedMonitor monitor;
  monitor.launch(task(1, {0}));
  TaskEnd end;
  end.cause = EndCause::kNeverStarted;
  end.problem = "too many open files";
  monitor.tell(TaskEnded{1, end});
  EXPECT_THAT(monitor.launch(task(2, {0})).startedTasks(), ElementsAre(2u));
}

// --- Files --------------------------------------------------------------------------------------------

TEST(MonitorLogic, StartsATaskWithItsFiles) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(task(1)));
  EXPECT_THAT(monitor.all<FetchFiles>(), SizeIs(1));
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  const std::vector<InputFile> files{{"train.py", 0755, "print()"}};
  monitor.tell(FilesArrived{1, files});
  ASSERT_THAT(monitor.startedTasks(), ElementsAre(1u));
  EXPECT_EQ(monitor.all<StartTask>()[0].files, files);
  EXPECT_THAT(monitor.tell(FilesArrived{1, files}).actions, IsEmpty());
}

TEST(MonitorLogic, FetchesFilesAgainWhenTheMasterIsBack) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(task(1))).tell(MasterLost{});
  monitor.tell(FilesArrived{1, Error{ErrorCode::kUnavailable, "connection lost"}});
  EXPECT_THAT(monitor.actions, IsEmpty());
  EXPECT_THAT(monitor.attach().all<FetchFiles>(), SizeIs(1));
}

TEST(MonitorLogic, FetchesFilesAgainFromAMasterThatWasBusy) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(task(1)));
  monitor.tell(FilesArrived{1, Error{ErrorCode::kUnavailable, "not now"}});
  ASSERT_THAT(monitor.all<WakeAt>(), SizeIs(1));
  EXPECT_THAT(monitor.after(1s).all<FetchFiles>(), SizeIs(1));
}

// --- Secrets ------------------------------------------------------------------------------------------

LaunchSpec withSecrets(LaunchSpec spec) {
  spec.secrets = {"db"};
  return spec;
}

std::vector<TaskSecret> theSecrets() {
  return {{"db", SecretBytes(std::string_view("hunter2"))}};
}

TEST(MonitorLogic, StartsATaskWithItsSecretsAndKeepsNothingOfThem) {
  AttachedMonitor monitor;
  monitor.launch(withSecrets(task(1)));
  ASSERT_THAT(monitor.all<FetchSecrets>(), SizeIs(1));
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  monitor.tell(SecretsArrived{1, theSecrets()});
  ASSERT_THAT(monitor.startedTasks(), ElementsAre(1u));
  EXPECT_EQ(monitor.all<StartTask>()[0].secrets, theSecrets());
  EXPECT_THAT(monitor.tell(SecretsArrived{1, theSecrets()}).actions, IsEmpty());
}

TEST(MonitorLogic, WaitsForFilesAndSecretsInWhicheverOrderTheyCome) {
  for (const bool filesFirst : {true, false}) {
    AttachedMonitor monitor;
    monitor.launch(withFiles(withSecrets(task(1))));
    EXPECT_THAT(monitor.all<FetchFiles>(), SizeIs(1));
    EXPECT_THAT(monitor.all<FetchSecrets>(), SizeIs(1));
    const Event files = FilesArrived{1, std::vector<InputFile>{{"a", 0644, "x"}}};
    const Event secrets = SecretsArrived{1, theSecrets()};
    EXPECT_THAT(monitor.tell(filesFirst ? files : secrets).startedTasks(), IsEmpty());
    EXPECT_THAT(monitor.attach().all<FetchFiles>(), SizeIs(filesFirst ? 0 : 1)) << "only what it lacks";
    EXPECT_THAT(monitor.tell(filesFirst ? secrets : files).startedTasks(), ElementsAre(1u));
  }
}

TEST(MonitorLogic, AsksForSecretsAgainUntilAMasterIsThere) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(withSecrets(task(1))));
  monitor.tell(SecretsArrived{1, Error{ErrorCode::kUnavailable, "not now"}});
  monitor.tell(FilesArrived{1, std::vector<InputFile>{}});
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.after(1s).all<FetchSecrets>(), SizeIs(1));
  monitor.tell(MasterLost{}).tell(SecretsArrived{1, Error{ErrorCode::kUnavailable, "lost"}});
  EXPECT_THAT(monitor.actions, IsEmpty());
  EXPECT_THAT(monitor.attach().all<FetchSecrets>(), SizeIs(1));
}

// It lies with the job, and with no server: none is the worse for it.
TEST(MonitorLogic, ReportsATaskWhoseSecretsCannotBeHadAsNeverStarted) {
  AttachedMonitor monitor;
  monitor.launch(withSecrets(task(1))).tell(SecretsArrived{1, notFound("there is no secret 'ann/db'")});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  const TaskEnd end = monitor.reports()[0].end;
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_FALSE(serversFault(end));
  EXPECT_EQ(end.problem, "its secrets could not be had: there is no secret 'ann/db'");
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
}

TEST(MonitorLogic, AsksAnewForTheSecretsOfATaskThatItsPredecessorDidNotStart) {
  Monitor monitor({recovered(withSecrets(task(1)), RecoveredTask::State::kNeverStarted),
                   recovered(withSecrets(task(2, {1})), RecoveredTask::State::kRunning)});
  monitor.attach();
  ASSERT_THAT(monitor.all<FetchSecrets>(), SizeIs(1)) << "of the one that runs none";
  EXPECT_EQ(monitor.all<FetchSecrets>()[0].allocation, 1u);
}

TEST(MonitorLogic, ReportsATaskWhoseFilesCannotBeHad) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(task(1))).tell(FilesArrived{1, notFound("job has no files")});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(monitor.reports()[0].end.problem, "its input files could not be had: job has no files");
}

// --- Stop ---------------------------------------------------------------------------------------------

TEST(MonitorLogic, StopsARunningTaskGentlyFirst) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{});
  EXPECT_THAT(monitor.tell(StopArrived{1}).signals(), ElementsAre(SIGTERM));
  EXPECT_THAT(monitor.after(9s).signals(), IsEmpty());
  EXPECT_THAT(monitor.tell(StopArrived{1}).signals(), IsEmpty());
  EXPECT_THAT(monitor.after(1s).signals(), ElementsAre(SIGKILL));
  monitor.tell(TaskEnded{1, killedBy(SIGKILL)});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kCancelled);
  EXPECT_EQ(monitor.reports()[0].end.signal, SIGKILL);
}

TEST(MonitorLogic, DoesNotKillATaskThatObeys) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(StopArrived{1}).tell(TaskEnded{1, killedBy(SIGTERM)});
  EXPECT_THAT(monitor.after(1h).signals(), IsEmpty());
}

TEST(MonitorLogic, SignalsATaskAgainThatWasStoppedBeforeItsCommandRan) {
  AttachedMonitor monitor;
  monitor.launch(task(1)).tell(StopArrived{1});
  EXPECT_THAT(monitor.tell(TaskStarted{1, kStart.wall}).signals(), ElementsAre(SIGTERM));
}

TEST(MonitorLogic, LeavesTheEndOfATaskAloneThatEndedBeforeTheStop) {
  AttachedMonitor monitor;
  monitor.run(task(1));  // its report is under way
  monitor.tell(TaskEnded{1, exited(0)}).tell(StopArrived{1}).tell(ReportsAcknowledged{});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kExited);
}

TEST(MonitorLogic, NeverStartsATaskThatWasStoppedWhileItsFilesWereFetched) {
  AttachedMonitor monitor;
  monitor.launch(withFiles(task(1))).tell(StopArrived{1});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kCancelled);
  EXPECT_THAT(monitor.tell(FilesArrived{1, std::vector<InputFile>{}}).startedTasks(), IsEmpty());
}

TEST(MonitorLogic, RefusesAndReportsATaskThatWasStoppedBeforeItArrived) {
  AttachedMonitor monitor;
  monitor.tell(StopArrived{1});
  EXPECT_THAT(monitor.forgotten(), ElementsAre(1u)) << "a successor has to refuse it too";
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kCancelled);
  EXPECT_EQ(monitor.reports()[0].end.problem, "stopped before it arrived");
  EXPECT_THAT(monitor.logic.knownTasks(), IsEmpty());
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kRevoked);
  monitor.tell(ReportsAcknowledged{});
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kRevoked);
}

TEST(MonitorLogic, RemembersTheNewestHundredThousandRefusals) {
  AttachedMonitor monitor;
  std::vector<AllocationId> dropped(100'001);
  for (AllocationId id = 0; id < dropped.size(); ++id) dropped[id] = id + 1;
  monitor.attach(dropped);
  EXPECT_EQ(monitor.launch(task(100'001)).answer(), Outcome::kRevoked);
  EXPECT_EQ(monitor.launch(task(2)).answer(), Outcome::kRevoked);
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kAccepted);
}

// --- Shutdown -----------------------------------------------------------------------------------------

TEST(MonitorShutdown, GivesTasksTheirGraceButNoMoreThanItHas) {
  AttachedMonitor monitor;
  LaunchSpec patient = task(1, {0}), quick = task(2, {1});
  patient.grace = 1h;
  quick.grace = 2s;
  monitor.run(patient).run(quick).tell(ShutdownBegun{10s});
  EXPECT_THAT(monitor.signals(), ElementsAre(SIGTERM, SIGTERM));
  EXPECT_THAT(monitor.all<RecordReason>(), SizeIs(2)) << "a successor is to know why they ended";
  EXPECT_THAT(monitor.after(2s).signals(), ElementsAre(SIGKILL));
  EXPECT_THAT(monitor.after(7s).signals(), IsEmpty());
  EXPECT_THAT(monitor.after(1s).signals(), ElementsAre(SIGKILL));
}

TEST(MonitorShutdown, ShortensTheGraceOfTasksThatAreBeingStopped) {
  AttachedMonitor monitor;
  LaunchSpec patient = task(1);
  patient.grace = 1h;
  monitor.run(patient).tell(StopArrived{1}).tell(ShutdownBegun{10s});
  EXPECT_THAT(monitor.signals(), IsEmpty()) << "it has had its SIGTERM";
  EXPECT_THAT(monitor.after(10s).signals(), ElementsAre(SIGKILL));
}

TEST(MonitorShutdown, ReportsItsTasksAsCancelledHoweverTheyEnd) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{}).tell(ShutdownBegun{10s}).tell(TaskEnded{1, exited(0)});
  const auto reports = monitor.reports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].end.cause, EndCause::kCancelled);
  EXPECT_EQ(reports[0].end.problem, "its server was shut down");
}

TEST(MonitorShutdown, StartsNothingAndLeavesToItsSuccessorWhatHasNotStarted) {
  AttachedMonitor monitor;
  monitor.run(task(1)).launch(task(2)).tell(ShutdownBegun{10s});
  EXPECT_THAT(monitor.tell(TaskEnded{1, killedBy(SIGTERM)}).startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.forgotten(), IsEmpty());
  EXPECT_EQ(monitor.logic.load().active(), 0u);
}

// --- Timeout ------------------------------------------------------------------------------------------

TEST(MonitorLogic, EndsATaskThatRunsLongerThanItsTimeout) {
  AttachedMonitor monitor;
  monitor.run(withTimeout(task(1), 10min)).tell(ReportsAcknowledged{});
  EXPECT_THAT(monitor.after(10min - 1us).signals(), IsEmpty());
  EXPECT_THAT(monitor.after(1us).signals(), ElementsAre(SIGTERM));
  EXPECT_THAT(monitor.after(10s).signals(), ElementsAre(SIGKILL));
  monitor.tell(TaskEnded{1, killedBy(SIGKILL)});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kTimedOut);
  EXPECT_EQ(monitor.reports()[0].end.problem, "ran longer than its timeout of 10m");
}

// It ended by itself, and its time ran out before that was told.
TEST(MonitorLogic, ATaskThatEndedInTimeHasNotTimedOut) {
  for (const auto& [took, cause] : {std::pair{9s, EndCause::kExited}, std::pair{11s, EndCause::kTimedOut}}) {
    AttachedMonitor monitor;
    monitor.run(withTimeout(task(1), 10s)).tell(ReportsAcknowledged{});
    EXPECT_THAT(monitor.after(10s).signals(), ElementsAre(SIGTERM));
    TaskEnd end = exited(0);
    end.started = WallTime(100s);
    end.ended = end.started + took;
    EXPECT_EQ(monitor.tell(TaskEnded{1, end}).reports().at(0).end.cause, cause);
  }
}

TEST(MonitorLogic, NamesAnyTimeoutShortly) {
  const std::vector<std::pair<Duration, std::string>> cases{
      {90min, "1h30m"}, {1h, "1h"}, {61s, "1m1s"}, {2500ms, "2.5s"}, {1us, "0.000001s"}};
  for (const auto& [timeout, text] : cases) {
    AttachedMonitor monitor;
    monitor.run(withTimeout(task(1), timeout)).tell(ReportsAcknowledged{});
    monitor.after(timeout).tell(TaskEnded{1, killedBy(SIGTERM)});
    EXPECT_EQ(monitor.reports().at(0).end.problem, "ran longer than its timeout of " + text);
  }
}

TEST(MonitorLogic, WakesForTheEarliestAlarm) {
  AttachedMonitor monitor;
  monitor.run(withTimeout(task(1, {0}), 10s));
  EXPECT_EQ(monitor.all<WakeAt>().at(0).when, kStart.steady + 10s);
  monitor.run(withTimeout(task(2, {1}), 20s));
  EXPECT_THAT(monitor.all<WakeAt>(), IsEmpty());
  monitor.run(withTimeout(task(3, {2}), 5s));
  EXPECT_EQ(monitor.all<WakeAt>().at(0).when, kStart.steady + 5s);
  EXPECT_EQ(monitor.after(5s).all<WakeAt>().at(0).when, kStart.steady + 10s);
}

// --- Reports ------------------------------------------------------------------------------------------

TEST(MonitorLogic, GathersReportsWhileAMessageIsUnderWay) {
  AttachedMonitor monitor;
  EXPECT_THAT(monitor.run(task(1, {1})).reports(), SizeIs(1));
  EXPECT_THAT(monitor.run(task(2, {2})).reports(), IsEmpty());
  EXPECT_THAT(monitor.run(task(3, {3})).reports(), IsEmpty());
  monitor.tell(ReportsAcknowledged{});
  ASSERT_THAT(monitor.reports(), SizeIs(2));
  EXPECT_FALSE(monitor.reports()[0].ended);
  EXPECT_EQ(monitor.reports()[0].end.started, kStart.wall);
}

TEST(MonitorLogic, SaysOnlyTheEndOfATaskThatWasOverBeforeItsStartWasTold) {
  AttachedMonitor monitor;
  monitor.run(task(1, {1})).run(task(2, {2})).tell(TaskEnded{2, exited(3)}).tell(ReportsAcknowledged{});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_TRUE(monitor.reports()[0].ended);
  EXPECT_EQ(monitor.reports()[0].end.exitCode, 3);
  EXPECT_EQ(monitor.reports()[0].end.started, kStart.wall);
}

TEST(MonitorLogic, SendsAtMostAThousandReportsAtOnce) {
  Monitor monitor;
  for (AllocationId id = 1; id <= 1'500; ++id) monitor.tell(StopArrived{id});
  EXPECT_THAT(monitor.attach().reports(), SizeIs(1'000));
  EXPECT_THAT(monitor.tell(ReportsAcknowledged{}).reports(), SizeIs(500));
  EXPECT_THAT(monitor.tell(ReportsAcknowledged{}).reports(), IsEmpty());
}

TEST(MonitorLogic, ForgetsATaskOnlyWhenItsEndIsDurable) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(TaskEnded{1, exited(0)});
  EXPECT_THAT(monitor.tell(ReportsAcknowledged{}).forgotten(), IsEmpty());  // of its start
  EXPECT_THAT(monitor.logic.knownTasks(), SizeIs(1));
  EXPECT_THAT(monitor.tell(ReportsAcknowledged{}).forgotten(), ElementsAre(1u));
  EXPECT_THAT(monitor.logic.knownTasks(), IsEmpty());
}

TEST(MonitorLogic, ReportsAgainWhatALostMasterMayNotKnow) {
  AttachedMonitor monitor;
  monitor.run(task(1, {1})).tell(ReportsAcknowledged{});
  monitor.run(task(2, {2})).tell(TaskEnded{2, exited(0)});
  EXPECT_THAT(monitor.tell(MasterLost{}).reports(), IsEmpty());
  EXPECT_THAT(monitor.run(task(3, {3})).reports(), IsEmpty());
  monitor.attach();
  ASSERT_THAT(monitor.reports(), SizeIs(3));
  EXPECT_FALSE(monitor.reports()[0].ended);
  EXPECT_TRUE(monitor.reports()[1].ended);
  EXPECT_FALSE(monitor.reports()[2].ended);
}

// --- The master's word on attachment ------------------------------------------------------------------

TEST(MonitorLogic, ReportsATaskThatTheMachineStoppedAsShutDown) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{});
  TaskEnd stopped = exited(0);
  stopped.cause = EndCause::kCancelled;
  monitor.tell(TaskEnded{1, stopped});
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.cause, EndCause::kCancelled);
  EXPECT_EQ(monitor.reports()[0].end.problem, "its server was shut down");
}

TEST(MonitorLogic, KillsAndForgetsWhatTheMasterDoesNotKnow) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{}).tell(MasterLost{});
  monitor.attach({1});
  EXPECT_THAT(monitor.signals(), ElementsAre(SIGKILL));
  EXPECT_THAT(monitor.reports(), IsEmpty());
  EXPECT_EQ(monitor.launch(task(1)).answer(), Outcome::kRevoked);
  monitor.tell(TaskEnded{1, killedBy(SIGKILL)});
  EXPECT_THAT(monitor.forgotten(), ElementsAre(1u));
  EXPECT_THAT(monitor.reports(), IsEmpty());
}

TEST(MonitorLogic, ForgetsADroppedTaskAtOnceThatDoesNotRun) {
  Monitor monitor;
  monitor.launch(task(1, {1})).launch(withFiles(task(2, {2})));
  monitor.attach({1, 2});
  EXPECT_THAT(monitor.forgotten(), ElementsAre(1u, 2u));
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.all<FetchFiles>(), IsEmpty());
}

TEST(MonitorLogic, StopsWhatWasToBeStoppedWhileItWasAway) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(MasterLost{}).attach({}, {1, 7});
  EXPECT_THAT(monitor.signals(), ElementsAre(SIGTERM));
  ASSERT_THAT(monitor.reports(), SizeIs(2));
  EXPECT_EQ(monitor.reports()[1].allocation, 7u);
  EXPECT_EQ(monitor.reports()[1].end.cause, EndCause::kCancelled);
}

// --- Restart ------------------------------------------------------------------------------------------

TEST(MonitorLogic, StartsWhatItsPredecessorRecordedAndDidNotStart) {
  Monitor monitor({recovered(task(1, {1}), RecoveredTask::State::kNeverStarted),
                   recovered(withFiles(task(2, {2})), RecoveredTask::State::kNeverStarted)});
  EXPECT_THAT(monitor.actions, IsEmpty());
  EXPECT_THAT(monitor.logic.knownTasks(), SizeIs(2));
  monitor.attach();
  EXPECT_THAT(monitor.startedTasks(), ElementsAre(1u));
  EXPECT_THAT(monitor.all<FetchFiles>(), SizeIs(1));
}

TEST(MonitorLogic, NeverStartsWhatWasStoppedWhileItWasDown) {
  Monitor monitor({recovered(task(1), RecoveredTask::State::kNeverStarted)});
  EXPECT_THAT(monitor.attach({}, {1}).startedTasks(), IsEmpty());
  EXPECT_EQ(monitor.reports().at(0).end.cause, EndCause::kCancelled);
}

TEST(MonitorLogic, ReportsAnEndThatItsPredecessorMissed) {
  RecoveredTask ended = recovered(task(1), RecoveredTask::State::kEnded);
  ended.end = exited(7);
  Monitor monitor({ended});
  monitor.attach();
  ASSERT_THAT(monitor.reports(), SizeIs(1));
  EXPECT_EQ(monitor.reports()[0].end.exitCode, 7);
  EXPECT_THAT(monitor.tell(ReportsAcknowledged{}).forgotten(), ElementsAre(1u));
}

TEST(MonitorLogic, AdoptsARunningTaskWithItsUnitsAndTheRestOfItsTimeout) {
  RecoveredTask running = recovered(withTimeout(task(1), 60s), RecoveredTask::State::kRunning);
  running.started = kStart.wall - 20s;
  Monitor monitor({running});
  EXPECT_EQ(monitor.all<WakeAt>().at(0).when, kStart.steady + 40s);
  monitor.attach();
  EXPECT_EQ(monitor.reports().at(0).end.started, running.started);
  EXPECT_THAT(monitor.launch(task(2)).startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.after(40s).signals(), ElementsAre(SIGTERM));
}

TEST(MonitorLogic, WritesTheReasonDownBeforeItSignals) {
  AttachedMonitor monitor;
  monitor.run(task(1)).tell(ReportsAcknowledged{}).tell(StopArrived{1});
  ASSERT_GE(monitor.actions.size(), 2u);
  ASSERT_TRUE(std::holds_alternative<RecordReason>(monitor.actions[0]));
  EXPECT_EQ(std::get<RecordReason>(monitor.actions[0]).reason, EndCause::kCancelled);
  EXPECT_TRUE(std::holds_alternative<SignalTask>(monitor.actions[1]));
}

TEST(MonitorLogic, ReportsTheReasonForWhichItsPredecessorEndedATask) {
  for (const EndCause reason : {EndCause::kCancelled, EndCause::kTimedOut}) {
    RecoveredTask ended = recovered(withTimeout(task(1), 60s), RecoveredTask::State::kEnded);
    ended.end = killedBy(SIGTERM);
    ended.reason = reason;
    Monitor monitor({ended});
    EXPECT_EQ(monitor.attach().reports().at(0).end.cause, reason);
  }
}

TEST(MonitorLogic, GoesOnEndingATaskThatItsPredecessorWasEnding) {
  RecoveredTask running = recovered(withTimeout(task(1), 60s), RecoveredTask::State::kRunning);
  running.started = kStart.wall - 60s;
  running.reason = EndCause::kTimedOut;
  Monitor monitor({running});
  EXPECT_THAT(monitor.signals(), ElementsAre(SIGTERM)) << "the predecessor may not have come to it";
  EXPECT_THAT(monitor.after(10s).signals(), ElementsAre(SIGKILL));
  monitor.tell(TaskEnded{1, killedBy(SIGKILL)});
  EXPECT_EQ(monitor.attach().reports().at(0).end.cause, EndCause::kTimedOut);
}

TEST(MonitorLogic, NeverStartsWhatItsPredecessorWasEnding) {
  RecoveredTask stopped = recovered(task(1), RecoveredTask::State::kNeverStarted);
  stopped.reason = EndCause::kCancelled;
  Monitor monitor({stopped});
  EXPECT_THAT(monitor.attach().startedTasks(), IsEmpty());
  EXPECT_EQ(monitor.reports().at(0).end.cause, EndCause::kCancelled);
}

TEST(MonitorLogic, AdoptsARunningTaskWithItsExtras) {
  AttachedMonitor monitor({recovered(withGpus(task(1, {0}), {1}), RecoveredTask::State::kRunning)});
  EXPECT_THAT(monitor.launch(withGpus(task(2, {1}), {1})).startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.tell(TaskEnded{1, exited(0)}).startedTasks(), ElementsAre(2u));
}

TEST(MonitorLogic, LearnsTheStartOfATaskThatWasBeingStartedWhenItDied) {
  AttachedMonitor monitor({recovered(withTimeout(task(1), 60s), RecoveredTask::State::kRunning)});
  EXPECT_THAT(monitor.reports(), IsEmpty());
  monitor.tell(TaskStarted{1, kStart.wall});
  EXPECT_EQ(monitor.reports().at(0).end.started, kStart.wall);
  EXPECT_EQ(monitor.all<WakeAt>().at(0).when, kStart.steady + 60s);
}

TEST(MonitorLogic, GivesNoMoreThanTheWholeTimeoutWhereTheWallClockJumped) {
  for (Duration jump : {-1h, +1h}) {
    RecoveredTask running = recovered(withTimeout(task(1), 60s), RecoveredTask::State::kRunning);
    running.started = kStart.wall - jump;
    Monitor monitor({running});
    EXPECT_EQ(monitor.all<WakeAt>().at(0).when, kStart.steady + (jump < 0s ? 60s : 0s));
  }
}

// --- Lease --------------------------------------------------------------------------------------------

LaunchSpec exclusiveTask(AllocationId allocation, std::vector<RuIndex> rus = {0}) {
  LaunchSpec spec = task(allocation, std::move(rus));
  spec.exclusive = true;
  return spec;
}

// The tasks that each renewal of the last event asks for.
std::vector<std::vector<AllocationId>> renewals(const Monitor& monitor) {
  std::vector<std::vector<AllocationId>> asked;
  for (const RenewLease& renewal : monitor.all<RenewLease>()) asked.push_back(renewal.starting);
  return asked;
}

TEST(MonitorLease, IsRenewedFromTheAttachmentOnFourTimesWhileItLasts) {
  Monitor monitor;
  EXPECT_THAT(renewals(monitor.attachWithLease()), ElementsAre(IsEmpty()));
  EXPECT_THAT(renewals(monitor.after(10s)), IsEmpty());  // the first is under way
  monitor.tell(LeaseRenewed{});
  EXPECT_THAT(monitor.all<ExtendLease>(), SizeIs(1));
  EXPECT_THAT(renewals(monitor), ElementsAre(IsEmpty()));  // ten seconds have passed since it was asked for
  monitor.tell(LeaseRenewed{});
  EXPECT_THAT(renewals(monitor.after(9s)), IsEmpty());
  EXPECT_THAT(renewals(monitor.after(1s)), ElementsAre(IsEmpty()));
}

// The master may have answered right after it was asked, and counts from then.
TEST(MonitorLease, LastsFromWhenItWasAskedFor) {
  Monitor monitor;
  monitor.attachWithLease();
  const MonotonicTime asked = monitor.now.steady;
  monitor.after(7s).tell(LeaseRenewed{});
  ASSERT_THAT(monitor.all<ExtendLease>(), SizeIs(1));
  EXPECT_EQ(monitor.all<ExtendLease>()[0].until, asked + 40s);
}

TEST(MonitorLease, AnExclusiveTaskStartsOnlyWhenTheMasterSaysSo) {
  Monitor monitor;
  monitor.attachWithLease().tell(LeaseRenewed{});
  monitor.launch(exclusiveTask(1));
  EXPECT_EQ(monitor.answer(), Outcome::kAccepted);
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(renewals(monitor), ElementsAre(ElementsAre(1)));
  EXPECT_THAT(monitor.tell(LeaseRenewed{}).startedTasks(), ElementsAre(1));
}

TEST(MonitorLease, TheLeaseIsExtendedBeforeATaskStartsByIt) {
  Monitor monitor;
  monitor.attachWithLease().tell(LeaseRenewed{});
  monitor.launch(exclusiveTask(1)).tell(LeaseRenewed{});
  ASSERT_GE(monitor.actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<ExtendLease>(monitor.actions[0]));
  EXPECT_TRUE(std::holds_alternative<StartTask>(monitor.actions[1]));
}

TEST(MonitorLease, AnAnswerToAnEarlierRenewalLetsNothingStart) {
  Monitor monitor;
  monitor.attachWithLease();  // asks, for no task
  monitor.launch(exclusiveTask(1));
  monitor.tell(LeaseRenewed{});
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(renewals(monitor), ElementsAre(ElementsAre(1)));
}

// The machine slept between question and answer.
TEST(MonitorLease, AnAnswerThatIsOlderThanTheLeaseLetsNothingStart) {
  Monitor monitor;
  monitor.attachWithLease().tell(LeaseRenewed{});
  monitor.launch(exclusiveTask(1));
  monitor.now.steady += 1h;
  monitor.tell(LeaseRenewed{});
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  ASSERT_THAT(monitor.all<ExtendLease>(), SizeIs(1));
  EXPECT_LT(monitor.all<ExtendLease>()[0].until, monitor.now.steady);
  EXPECT_THAT(renewals(monitor), ElementsAre(ElementsAre(1)));
  EXPECT_THAT(monitor.tell(LeaseRenewed{}).startedTasks(), ElementsAre(1));
}

TEST(MonitorLease, ATaskThatIsRefusedIsNeverStartedNorReported) {
  Monitor monitor;
  monitor.attachWithLease().tell(LeaseRenewed{});
  monitor.launch(exclusiveTask(1)).tell(LeaseRenewed{{1}});
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(monitor.reports(), IsEmpty());
  EXPECT_THAT(monitor.forgotten(), ElementsAre(1));
  EXPECT_EQ(monitor.launch(exclusiveTask(1)).answer(), Outcome::kRevoked);
}

TEST(MonitorLease, ATaskThatWaitedForItsUnitsUntilTheLeaseEndedIsAskedForAgain) {
  Monitor monitor;
  monitor.attachWithLease().tell(LeaseRenewed{});
  monitor.run(task(1));
  monitor.launch(exclusiveTask(2)).tell(LeaseRenewed{});  // waits for the unit of task 1
  monitor.tell(MasterLost{}).after(1h);
  monitor.tell(TaskEnded{1, exited(0)});
  EXPECT_THAT(monitor.startedTasks(), IsEmpty());
  EXPECT_THAT(renewals(monitor.attachWithLease()), ElementsAre(ElementsAre(2)));
  EXPECT_THAT(monitor.tell(LeaseRenewed{}).startedTasks(), ElementsAre(2));
}

TEST(MonitorLease, OtherTasksNeedNone) {
  Monitor monitor;
  monitor.attachWithLease();
  EXPECT_THAT(monitor.launch(task(1)).startedTasks(), ElementsAre(1));
}

TEST(MonitorLease, ARenewalThatWasLostWithTheLinkIsAskedForAgain) {
  Monitor monitor;
  monitor.attachWithLease();
  monitor.tell(MasterLost{});
  EXPECT_THAT(renewals(monitor.attachWithLease()), ElementsAre(IsEmpty()));
}

TEST(MonitorLogic, GivesARunningTaskOtherUnits) {
  Monitor monitor;
  monitor.attach().launch(task(1, {0})).tell(TaskStarted{1, kStart.wall});
  monitor.tell(ResizeArrived{9, 1, {0, 1}});
  ASSERT_THAT(monitor.all<ResizeTask>(), SizeIs(1));
  EXPECT_EQ(monitor.all<ResizeTask>().front().rus, (std::vector<RuIndex>{0, 1}));
  monitor.tell(TaskResized{1, {0, 1}});
  monitor.launch(task(2, {1}));
  EXPECT_THAT(monitor.all<StartTask>(), IsEmpty()) << "the first one has it";
  monitor.tell(TaskResized{1, {0}});
  EXPECT_THAT(monitor.all<StartTask>(), SizeIs(1));
}

TEST(MonitorLogic, RefusesUnitsOfAnotherTaskAndTasksThatDoNotRun) {
  Monitor monitor;
  monitor.attach().launch(task(1, {0})).tell(TaskStarted{1, kStart.wall});
  monitor.launch(task(2, {1})).tell(TaskStarted{2, kStart.wall});
  monitor.tell(ResizeArrived{9, 1, {0, 1}});
  ASSERT_THAT(monitor.all<RefuseChange>(), SizeIs(1));
  EXPECT_EQ(monitor.all<RefuseChange>().front().error.code, ErrorCode::kConflict);
  monitor.tell(ResizeArrived{10, 3, {0}});
  ASSERT_THAT(monitor.all<RefuseChange>(), SizeIs(1));
  EXPECT_EQ(monitor.all<RefuseChange>().front().error.code, ErrorCode::kNotFound);
  monitor.tell(StopArrived{1}).tell(ResizeArrived{11, 1, {0}});
  EXPECT_THAT(monitor.all<RefuseChange>(), SizeIs(1)) << "it is being ended";
}

TEST(MonitorLogic, ThrottlesARunningTaskForAsLongAsTheMasterIsThere) {
  Monitor monitor;
  monitor.attach().launch(task(1, {0})).tell(TaskStarted{1, kStart.wall});
  monitor.tell(ThrottleArrived{9, 1, {.cpu = 0.05}});
  ASSERT_THAT(monitor.all<ThrottleTask>(), SizeIs(1));
  EXPECT_EQ(monitor.all<ThrottleTask>().front().request, 9u);
  EXPECT_EQ(monitor.all<ThrottleTask>().front().throttle, (Throttle{.cpu = 0.05}));
  monitor.tell(MasterLost{});
  ASSERT_THAT(monitor.all<ThrottleTask>(), SizeIs(1));
  EXPECT_TRUE(monitor.all<ThrottleTask>().front().throttle.isNone());
  EXPECT_EQ(monitor.all<ThrottleTask>().front().request, std::nullopt);
  EXPECT_THAT(monitor.attach().tell(MasterLost{}).all<ThrottleTask>(), IsEmpty()) << "it was told already";
}

TEST(MonitorLogic, ThrottlesNoTaskThatIsToEnd) {
  Monitor monitor;
  monitor.attach().launch(task(1, {0})).tell(TaskStarted{1, kStart.wall});
  monitor.tell(ThrottleArrived{9, 1, {.cpu = 0.05}});
  monitor.tell(StopArrived{1});
  ASSERT_THAT(monitor.all<ThrottleTask>(), SizeIs(1));
  EXPECT_TRUE(monitor.all<ThrottleTask>().front().throttle.isNone());
}

TEST(MonitorLogic, RefusesToThrottleWhatDoesNotRunAndToSharesThatAreNone) {
  Monitor monitor;
  monitor.attach().launch(task(1, {0})).tell(TaskStarted{1, kStart.wall});
  for (const double share : {0.0, -1.0, 1.5, std::nan("")}) {
    for (const auto which : kThrottleShares) {
      Throttle throttle;
      throttle.*which = share;
      monitor.tell(ThrottleArrived{9, 1, throttle});
      ASSERT_THAT(monitor.all<RefuseChange>(), SizeIs(1));
      EXPECT_EQ(monitor.all<RefuseChange>().front().error.code, ErrorCode::kInvalid);
      EXPECT_THAT(monitor.all<ThrottleTask>(), IsEmpty());
    }
  }
  monitor.tell(ThrottleArrived{10, 2, {.cpu = 0.5}});
  EXPECT_EQ(monitor.all<RefuseChange>().front().error.code, ErrorCode::kNotFound);
  monitor.tell(StopArrived{1}).tell(ThrottleArrived{11, 1, {.cpu = 0.5}});
  EXPECT_THAT(monitor.all<RefuseChange>(), SizeIs(1)) << "it is being ended";
}

TEST(MonitorLogic, SaysOfWhichEndsTheMeasurementGoesAlong) {
  Monitor monitor;
  monitor.attach();
  LaunchSpec measuring = task(1);
  measuring.measures = true;
  monitor.run(measuring);
  EXPECT_THAT(monitor.all<SendReports>().at(0).measuring, IsEmpty()) << "it has only started";
  monitor.run(task(2, {1}));
  monitor.tell(TaskEnded{2, exited(0)}).tell(TaskEnded{1, exited(1)});
  monitor.tell(ReportsAcknowledged{});
  const auto sent = monitor.all<SendReports>().at(0);
  ASSERT_THAT(sent.reports, SizeIs(2));
  ASSERT_THAT(sent.measuring, SizeIs(1));
  EXPECT_EQ(sent.reports[sent.measuring[0]].allocation, 1u);
  // A master that has heard nothing hears it again, also from a successor.
  EXPECT_THAT(monitor.attach().all<SendReports>().at(0).measuring, SizeIs(1));
  Monitor successor({recovered(measuring, RecoveredTask::State::kEnded)});
  EXPECT_THAT(successor.attach().all<SendReports>().at(0).measuring, ElementsAre(0u));
}

}  // namespace tarcil::monitor_logic_test
