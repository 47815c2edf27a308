// Processes of executors, one of which the test plays.
#include "monitor/late/executor_processes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/clock.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::executor_processes_test {

class PlayedHost final : public ExecutorHost {
 public:
  void startProcess(const LaunchSpec& spec) override { started.push_back(spec); }
  void killProcess(AllocationId) override {}
  void executorTaskEnded(late::SlotLeaseId lease, int32_t) override { ended = lease; }

  std::vector<LaunchSpec> started;
  late::SlotLeaseId ended = 0;
};

LateTask task(late::SlotLeaseId lease) {
  LateTask made;
  made.lease = lease;
  made.launch.command = {"work"};
  made.executor = {"executor"};
  return made;
}

TEST(ExecutorProcesses, RememberOfTheLastTasksWhichProcessRanThem) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  TemporaryFolder folder;
  PlayedHost host;
  const std::string socket = folder.path() + "/socket";
  auto processes = ExecutorProcesses::open(net, systemClock(), host, {.socket = socket}).wait(io.waitScope);

  constexpr late::SlotLeaseId kFirst = 1;
  processes->start(task(kFirst));
  ASSERT_EQ(host.started.size(), 1u);
  auto stream = connectTo(net.network, net.io, "unix:" + socket).wait(io.waitScope);
  const auto say = [&](const std::string& frame) {
    stream->write(frame.data(), frame.size()).wait(io.waitScope);
  };
  say(helloFrame(host.started[0].env.at("TARCIL_EXECUTOR_KEY")));
  FrameReader frames;
  char piece[4096];
  const auto runOne = [&]() {
    std::optional<ExecutorFrame> frame;
    while (!(frame = frames.next())) {
      frames.feed({piece, stream->tryRead(piece, 1, sizeof piece).wait(io.waitScope)});
    }
    ASSERT_EQ(frame->kind, 'T');
  };
  constexpr late::SlotLeaseId kLast = kFirst + ExecutorProcesses::kMostEndedTasks + 1;
  for (late::SlotLeaseId lease = kFirst; lease <= kLast; ++lease) {
    if (lease != kFirst) processes->start(task(lease));
    runOne();
    say(endFrame(lease, 0));
    while (host.ended != lease) io.waitScope.poll();
  }
  ASSERT_EQ(host.started.size(), 1u) << "one process runs them all";
  EXPECT_EQ(processes->processOf(kFirst), kFirst);
  EXPECT_EQ(processes->processOf(kLast), kFirst);
  EXPECT_EQ(processes->processOf(kLast - ExecutorProcesses::kMostEndedTasks + 1), kFirst) << "the oldest";
  EXPECT_EQ(processes->processOf(kFirst + 1), kFirst + 1) << "forgotten: a process is not known of it";
}

}  // namespace tarcil::executor_processes_test
