// The monitor's shell against a master that is only played: real sockets, no tasks.
#include "monitor/server/monitor_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <deque>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/measurement_text.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::monitor_server_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Attaches whoever comes, and answers reports as it was told: with each failure once, then with success.
struct PlayedMaster {
  std::deque<Error> reportFailures;
  int attachments = 0;
  std::deque<uint64_t> terms;          // of its next answers to logins; then it has none
  std::vector<AllocationId> reported;  // whatever the answer was
  std::vector<TaskReport> reports;     // the same, whole
  std::vector<ServerPressure> pressures;
  bool takesPressure = true;  // masters of an earlier version do not
  int pressureCalls = 0;
  kj::Function<void()> pressureCame = []() {};
  std::vector<Violation> violations;
  bool takesViolations = true;
  int violationCalls = 0;
  std::vector<PerformanceSample> samples;
  bool takesPerformance = true;
  int performanceCalls = 0;
  std::optional<MacKey> ticketKey{};  // none: a master of an earlier version
};

class PlayedPort final : public wire::MonitorPort::Server {
 public:
  explicit PlayedPort(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> attach(AttachContext context) override {
    ++master_.attachments;
    context.getResults().setLease(Duration(std::chrono::hours(1)).count());
    if (master_.ticketKey)
      context.getResults().setTicketKey(kj::arrayPtr(master_.ticketKey->data(), master_.ticketKey->size()));
    return kj::READY_NOW;
  }
  kj::Promise<void> renew(RenewContext) override { return kj::READY_NOW; }
  kj::Promise<void> report(ReportContext context) override {
    for (auto report : context.getParams().getReports()) {
      master_.reports.push_back(read(report));
      master_.reported.push_back(master_.reports.back().allocation);
    }
    if (master_.reportFailures.empty()) return kj::READY_NOW;
    const Error failure = master_.reportFailures.front();
    master_.reportFailures.pop_front();
    return toException(failure);
  }
  kj::Promise<void> pressure(PressureContext context) override {
    ++master_.pressureCalls;
    if (!master_.takesPressure) return wire::MonitorPort::Server::pressure(context);
    for (auto server : context.getParams().getServers()) master_.pressures.push_back(read(server));
    master_.pressureCame();
    return kj::READY_NOW;
  }
  kj::Promise<void> violations(ViolationsContext context) override {
    ++master_.violationCalls;
    if (!master_.takesViolations) return wire::MonitorPort::Server::violations(context);
    for (auto violation : context.getParams().getViolations()) master_.violations.push_back(read(violation));
    master_.pressureCame();
    return kj::READY_NOW;
  }
  kj::Promise<void> performance(PerformanceContext context) override {
    ++master_.performanceCalls;
    if (!master_.takesPerformance) return wire::MonitorPort::Server::performance(context);
    for (auto sample : context.getParams().getSamples()) master_.samples.push_back(read(sample));
    master_.pressureCame();
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
};

class PlayedGate final : public wire::MasterGate::Server {
 public:
  explicit PlayedGate(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> login(LoginContext context) override {
    if (!master_.terms.empty()) {
      context.getResults().setTerm(master_.terms.front());
      master_.terms.pop_front();
    }
    context.getResults().setMonitor(kj::heap<PlayedPort>(master_));
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
};

// Has one task that ended under its predecessor, and says when that is forgotten.
class LeftoverTask final : public Executor {
 public:
  explicit LeftoverTask(kj::Own<kj::PromiseFulfiller<void>> forgotten, bool measures = false)
      : forgotten_(kj::mv(forgotten)), measures_(measures) {}
  ~LeftoverTask() noexcept override {}

  void record(const LaunchSpec&) override {}
  void extendLease(MonotonicTime) override {}
  void start(const LaunchSpec&, const std::vector<InputFile>&, const std::vector<TaskSecret>&) override {}
  void recordReason(AllocationId, EndCause) override {}
  Status resize(AllocationId, const std::vector<RuIndex>&) override { return {}; }
  Status throttle(AllocationId, const Throttle&) override { return {}; }
  void signal(AllocationId, int) override {}
  void forget(AllocationId) override { forgotten_->fulfill(); }
  std::vector<RecoveredTask> recover() override {
    RecoveredTask task;
    task.state = state;
    task.spec.allocation = 7;
    task.spec.server = "s1";
    task.spec.measures = measures_;
    return {task};
  }

  RecoveredTask::State state = RecoveredTask::State::kEnded;

 private:
  kj::Own<kj::PromiseFulfiller<void>> forgotten_;
  bool measures_;
};

// Each task has printed the same.
class Printed final : public OutputSource {
 public:
  explicit Printed(std::string text) : text_(std::move(text)) {}
  Result<OutputPart> read(AllocationId, Stream stream, uint64_t offset, size_t most) override {
    return OutputPart{offset, stream == Stream::kStdout ? text_.substr(offset, most) : "warnings"};
  }
  void taken(AllocationId, Stream, uint64_t) override {}
  kj::Promise<void> grown(AllocationId) override { return kj::NEVER_DONE; }
  Result<ResultsPage> results(AllocationId, const std::string&) override { return ResultsPage(); }
  Result<std::string> readResult(AllocationId, const std::string&, uint64_t, size_t) override {
    return notFound("nothing is kept");
  }

 private:
  const std::string text_;
};

// Serves a monitor with one task of its predecessor until the end of that is reported and forgotten.
struct LeftoverMonitor {
  explicit LeftoverMonitor(const std::string& printed = "", bool measures = false)
      : executor(kj::mv(forgotten.fulfiller), measures),
        server(
            net, systemClock(), Rng(1), {"identity", {listener.address}, "token"},
            std::make_unique<Printed>(printed), [](const Error& error) { ADD_FAILURE() << error.message; },
            []() {}) {
    facts.name = "s1";
    facts.rus = 1;
  }

  void start() { server.start(executor, {facts}); }
  // Where reports have stopped for good, the test is to fail and not to hang.
  void untilForgotten() {
    forgotten.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  }
  // The report of the end.
  TaskReport report() {
    untilForgotten();
    for (const TaskReport& each : master.reports) {
      if (each.ended) return each;
    }
    return {};
  }

  TemporaryFolder folder;
  kj::AsyncIoContext io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  PlayedMaster master;
  Listener listener =
      listenAt(net.network, net.io, "unix:" + folder.path() + "/master.sock").wait(io.waitScope);
  kj::Promise<void> serving =
      serve(net.timer, kj::mv(listener.receiver), [this](const LetIn& letIn) -> capnp::Capability::Client {
        letIn(Peer::kRole);
        return kj::heap<PlayedGate>(master);
      }).eagerlyEvaluate(nullptr);
  kj::PromiseFulfillerPair<void> forgotten = kj::newPromiseAndFulfiller<void>();
  ServerFacts facts;
  LeftoverTask executor;
  MonitorServer server;
};

TEST(MonitorServer, AttachesAnewWhenAReportIsRefusedAndReportsAgain) {
  LeftoverMonitor monitor;
  monitor.master.reportFailures = {
      {ErrorCode::kConflict, "this connection does not speak for a monitor any more"},
      {ErrorCode::kInternal, "for once"}};
  monitor.start();
  monitor.untilForgotten();
  EXPECT_EQ(monitor.master.attachments, 3);
  EXPECT_THAT(monitor.master.reported, ElementsAre(7, 7, 7));
}

TEST(MonitorServer, IsNotLedByAMasterOfAnEarlierTerm) {
  LeftoverMonitor monitor;
  monitor.master.reportFailures = {
      {ErrorCode::kConflict, "this connection does not speak for a monitor any more"}};
  monitor.master.terms = {7, 6, 8};
  monitor.start();
  monitor.untilForgotten();
  EXPECT_EQ(monitor.master.attachments, 2);
  EXPECT_THAT(monitor.master.terms, IsEmpty()) << "it was answered in term 6, too";
}

// The report of the end of a task that was to measure an application, or was not, and printed this.
TaskReport reportOf(const std::string& printed, bool measures = true) {
  LeftoverMonitor monitor(printed, measures);
  monitor.start();
  return monitor.report();
}

TEST(MonitorServer, TheUsualPerformanceOfATaskGoesWithTheReportOfItsEnd) {
  LeftoverMonitor monitor;
  monitor.executor.state = RecoveredTask::State::kRunning;
  monitor.start();
  monitor.server.noteUsual({{7, 80}, {8, 1}});
  monitor.server.noteUsual({{7, 90}});
  monitor.server.taskEnded(7, {});
  monitor.server.noteUsual({{7, 5}});
  EXPECT_EQ(monitor.report().reached, 90);
}

std::string problemOf(const std::string& printed) {
  const auto measured = reportOf(printed).measured;
  return measured ? measured->problem : "nothing is said of a measurement";
}

TEST(MonitorServer, TellsWhatATaskMeasured) {
  Measurement found;
  found.profile.application = "sort";
  found.profile.caused = Profile::filled(7);
  EXPECT_EQ(reportOf(textOf(found)).measured, found);
  EXPECT_EQ(problemOf(textOf(Measurement{{}, "the command fails"})), "the command fails");
  EXPECT_FALSE(reportOf(textOf(found), /*measures=*/false).measured) << "it was not to";
}

TEST(MonitorServer, TellsWhyWhatATaskPrintedIsNoMeasurement) {
  EXPECT_EQ(problemOf(""), "it printed nothing");
  EXPECT_THAT(problemOf("{\"problem\": \"" + std::string(kMaxMeasurementBytes, 'x') + "\"}"),
              HasSubstr("is no measurement: it has more than 16384 bytes"));
  for (const char* rubbish :
       {"hello", "{", "[]", "{}", "{\"profile\": 7}", "{\"profile\": {\"caused\": [1, 2]}}",
        "{\"profile\": {\"caused\": [0,0,0,0,100,0,0,0,0,0], \"tolerated\": [0,0,0,0,0,0,0,0,0,0]}}",
        "{\"profile\": {\"caused\": [0,0,0,0,-1,0,0,0,0,0], \"tolerated\": [0,0,0,0,0,0,0,0,0,0]}}",
        "{\"profile\": {\"caused\": [0,0,0,0,1e99,0,0,0,0,0], \"tolerated\": [0,0,0,0,0,0,0,0,0,0]}}",
        "{\"problem\": {\"a\": {\"a\": {\"a\": {\"a\": {\"a\": {\"a\": {\"a\": {\"a\": 1}}}}}}}}}"}) {
    EXPECT_THAT(problemOf(rubbish), HasSubstr("is no measurement: ")) << rubbish;
  }
  EXPECT_THAT(problemOf(std::string(kMaxMeasurementBytes, '[')), HasSubstr("is no measurement: "));
}

// One task runs, and nothing becomes of it.
class OneTask final : public Executor {
 public:
  ~OneTask() noexcept override {}

  void record(const LaunchSpec&) override {}
  void extendLease(MonotonicTime) override {}
  void start(const LaunchSpec&, const std::vector<InputFile>&, const std::vector<TaskSecret>&) override {}
  void recordReason(AllocationId, EndCause) override {}
  Status resize(AllocationId, const std::vector<RuIndex>&) override { return {}; }
  Status throttle(AllocationId, const Throttle&) override { return {}; }
  void signal(AllocationId, int) override {}
  void forget(AllocationId) override {}
  std::vector<RecoveredTask> recover() override {
    RecoveredTask task;
    task.spec.allocation = 7;
    task.spec.server = "s1";
    task.state = RecoveredTask::State::kRunning;
    return {task};
  }
};

// A monitor of server s1 attached to a played master.
struct MonitorPressure : testing::Test {
  TemporaryFolder folder;
  kj::AsyncIoContext io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  PlayedMaster master;
  Listener listener =
      listenAt(net.network, net.io, "unix:" + folder.path() + "/master.sock").wait(io.waitScope);
  std::string address = listener.address;
  kj::Promise<void> serving =
      serve(net.timer, kj::mv(listener.receiver), [this](const LetIn& letIn) -> capnp::Capability::Client {
        letIn(Peer::kRole);
        return kj::heap<PlayedGate>(master);
      }).eagerlyEvaluate(nullptr);
  OneTask executor;
  kj::PromiseFulfillerPair<void> attached = kj::newPromiseAndFulfiller<void>();
  MonitorServer server{net,
                       systemClock(),
                       Rng(1),
                       {"identity", {address}, "token"},
                       noOutput(),
                       [](const Error& error) { ADD_FAILURE() << error.message; },
                       [this]() { attached.fulfiller->fulfill(); }};

  ~MonitorPressure() noexcept override {}

  void attach() {
    ServerFacts facts;
    facts.name = "s1";
    facts.rus = 1;
    server.start(executor, {facts});
    attached.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  }
  // Until the master has been told so often.
  void untilTold(size_t pressures, size_t violations = 0, size_t samples = 0) {
    auto came = kj::newPromiseAndFulfiller<void>();
    auto look = [this, pressures, violations, samples, fulfiller = kj::mv(came.fulfiller)]() mutable {
      if (master.pressures.size() >= pressures && master.violations.size() >= violations &&
          master.samples.size() >= samples)
        fulfiller->fulfill();
    };
    look();
    master.pressureCame = kj::mv(look);
    came.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  }
};

ServerPressure withCore(uint8_t core) {
  return {"s1", {core}, {{Resource::kLlc, "no resctrl"}}};
}

TEST_F(MonitorPressure, IsToldAfterTheAttachAndWhenThereIsNews) {
  server.tell(withCore(10));
  attach();
  server.tell(withCore(20));
  untilTold(2);
  EXPECT_THAT(master.pressures, ElementsAre(withCore(10), withCore(20)));
}

TEST_F(MonitorPressure, IsNotToldAgainToAMasterOfAnEarlierVersion) {
  master.takesPressure = false;
  server.tell(withCore(10));
  attach();
  // Calls of one connection are answered in their order, so an answer to this one comes after that to
  // the other.
  EXPECT_ANY_THROW(server.authenticate("token").wait(io.waitScope));
  server.tell(withCore(20));
  EXPECT_ANY_THROW(server.authenticate("token").wait(io.waitScope));
  EXPECT_EQ(master.pressureCalls, 1);
  EXPECT_EQ(master.attachments, 1);
}

Violation violationOf(AllocationId allocation, bool over = false) {
  Violation violation;
  violation.allocation = allocation;
  violation.over = over;
  violation.expected = 100;
  violation.measured = 50;
  return violation;
}

TEST_F(MonitorPressure, ViolationsOfTasksThatRunAreToldAndSoIsTheirEnd) {
  attach();
  server.tell({violationOf(7), violationOf(8)});  // there is no task 8
  untilTold(0, 1);
  server.tell({violationOf(7, true)});
  untilTold(0, 2);
  EXPECT_THAT(master.violations, ElementsAre(violationOf(7), violationOf(7, true)));
  EXPECT_EQ(master.attachments, 1);
}

TEST_F(MonitorPressure, ViolationsThatBeganBeforeTheAttachAreToldAfterIt) {
  ServerFacts facts;
  facts.name = "s1";
  facts.rus = 1;
  server.start(executor, {facts});
  server.tell({violationOf(7)});
  attached.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  untilTold(0, 1);
  EXPECT_THAT(master.violations, ElementsAre(violationOf(7)));
}

TEST_F(MonitorPressure, ViolationsAreNotToldAgainToAMasterOfAnEarlierVersion) {
  master.takesViolations = false;
  attach();
  server.tell({violationOf(7)});
  EXPECT_ANY_THROW(server.authenticate("token").wait(io.waitScope));
  server.tell({violationOf(7, true)});
  EXPECT_ANY_THROW(server.authenticate("token").wait(io.waitScope));
  EXPECT_EQ(master.violationCalls, 1);
  EXPECT_EQ(master.attachments, 1);
}

TEST_F(MonitorPressure, WhatTasksReachIsToldAndAgainAfterAnAttach) {
  ServerFacts facts;
  facts.name = "s1";
  facts.rus = 1;
  server.start(executor, {facts});
  const PerformanceSample early{7, {100, 50}}, late{7, {100, 98}};
  server.tell(std::vector{early, PerformanceSample{8, {100, 50}}});  // there is no task 8
  attached.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  untilTold(0, 0, 1);
  server.tell(std::vector{late});
  untilTold(0, 0, 2);
  EXPECT_THAT(master.samples, ElementsAre(early, late));
}

TEST_F(MonitorPressure, WhatTasksReachIsNotToldAgainToAMasterOfAnEarlierVersion) {
  master.takesPerformance = false;
  attach();
  for (int i = 0; i < 2; ++i) {
    server.tell(std::vector{PerformanceSample{7, {100, 50}}});
    EXPECT_ANY_THROW(server.authenticate("token").wait(io.waitScope));
  }
  EXPECT_EQ(master.performanceCalls, 1);
  EXPECT_EQ(master.attachments, 1);
}

// --- Tickets

LaunchSpec aLaunch() {
  LaunchSpec launch;
  launch.allocation = 9;
  launch.server = "s1";
  launch.command = {"true"};
  return launch;
}

TEST_F(MonitorPressure, LaunchesAreWantedByTheirTicketsOfThisSession) {
  EXPECT_ANY_THROW(server.isWanted(aLaunch(), "")) << "nobody has said yet by what they are known";
  master.ticketKey = makeMacKey();
  attach();
  EXPECT_FALSE(server.isWanted(aLaunch(), ""));
  EXPECT_FALSE(server.isWanted(aLaunch(), ticketFor(aLaunch(), makeMacKey())));
  EXPECT_TRUE(server.isWanted(aLaunch(), ticketFor(aLaunch(), *master.ticketKey)));
}

TEST_F(MonitorPressure, AllLaunchesAreWantedWhereTheMasterIsOfAnEarlierVersion) {
  attach();
  EXPECT_TRUE(server.isWanted(aLaunch(), ""));
}

}  // namespace tarcil::monitor_server_test
