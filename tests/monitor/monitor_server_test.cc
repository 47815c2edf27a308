// The monitor's shell against a master that is only played: real sockets, no tasks.
#include "monitor/monitor_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <deque>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "tests/monitor/container_fixture.h"

namespace tarcil {
namespace {

using testing::ElementsAre;

// Attaches whoever comes, and answers reports as it was told: with each failure once, then with success.
struct PlayedMaster {
  std::deque<Error> reportFailures;
  int attachments = 0;
  std::vector<AllocationId> reported;  // whatever the answer was
};

class PlayedPort final : public wire::MonitorPort::Server {
 public:
  explicit PlayedPort(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> attach(AttachContext) override {
    ++master_.attachments;
    return kj::READY_NOW;
  }
  kj::Promise<void> report(ReportContext context) override {
    for (auto report : context.getParams().getReports()) master_.reported.push_back(read(report).allocation);
    if (master_.reportFailures.empty()) return kj::READY_NOW;
    const Error failure = master_.reportFailures.front();
    master_.reportFailures.pop_front();
    return toException(failure);
  }

 private:
  PlayedMaster& master_;
};

class PlayedGate final : public wire::MasterGate::Server {
 public:
  explicit PlayedGate(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> login(LoginContext context) override {
    context.getResults().setMonitor(kj::heap<PlayedPort>(master_));
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
};

// Has one task that ended under its predecessor, and says when that is forgotten.
class LeftoverTask final : public Executor {
 public:
  explicit LeftoverTask(kj::Own<kj::PromiseFulfiller<void>> forgotten) : forgotten_(kj::mv(forgotten)) {}
  ~LeftoverTask() noexcept override {}

  void record(const LaunchSpec&) override {}
  void extendLease(MonotonicTime) override {}
  void start(const LaunchSpec&, const std::vector<InputFile>&) override {}
  void recordReason(AllocationId, EndCause) override {}
  void signal(AllocationId, int) override {}
  void forget(AllocationId) override { forgotten_->fulfill(); }
  std::vector<RecoveredTask> recover() override {
    RecoveredTask task;
    task.spec.allocation = 7;
    task.spec.server = "s1";
    return {task};
  }

 private:
  kj::Own<kj::PromiseFulfiller<void>> forgotten_;
};

TEST(MonitorServer, AttachesAnewWhenAReportIsRefusedAndReportsAgain) {
  TemporaryFolder folder;
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  PlayedMaster master;
  master.reportFailures = {{ErrorCode::kConflict, "this connection does not speak for a monitor any more"},
                           {ErrorCode::kInternal, "for once"}};
  Listener listener =
      listenAt(net.network, net.io, "unix:" + folder.path() + "/master.sock").wait(io.waitScope);
  auto serving = serve(kj::mv(listener.receiver), [&master]() -> capnp::Capability::Client {
                   return kj::heap<PlayedGate>(master);
                 }).eagerlyEvaluate(nullptr);

  auto forgotten = kj::newPromiseAndFulfiller<void>();
  LeftoverTask executor(kj::mv(forgotten.fulfiller));
  MonitorServer server(
      net, systemClock(), Rng(1), {"identity", listener.address, "token"}, noOutput(),
      [](const Error& error) { ADD_FAILURE() << error.message; }, []() {});
  ServerFacts facts;
  facts.name = "s1";
  facts.rus = 1;
  server.start(executor, {facts});
  // Where reports have stopped for good, the test is to fail and not to hang.
  forgotten.promise.exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS)).wait(io.waitScope);
  EXPECT_EQ(master.attachments, 3);
  EXPECT_THAT(master.reported, ElementsAre(7, 7, 7));
}

}  // namespace
}  // namespace tarcil
