// Processes of executors, one of which the test plays.
#include "monitor/late/executor_processes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "env/clock.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::executor_processes_test {

class PlayedHost final : public ExecutorHost {
 public:
  void startProcess(const LaunchSpec& spec) override { started.push_back(spec); }
  void killProcess(AllocationId) override {}
  std::optional<uid_t> uidOf(const std::string& user) override {
    return user == "unknown" ? std::nullopt : std::optional(uid);
  }
  void executorTaskEnded(late::SlotLeaseId lease, int32_t how) override {
    ended = lease;
    code = how;
  }

  std::vector<LaunchSpec> started;
  late::SlotLeaseId ended = 0;
  int32_t code = -1;
  uid_t uid = ::geteuid();
};

LateTask task(late::SlotLeaseId lease) {
  LateTask made;
  made.lease = lease;
  made.launch.command = {"work"};
  made.executor = {"executor"};
  return made;
}

// Processes whose sockets are in a folder of the test's.
class ExecutorProcessesTest : public testing::Test {
 public:
  ~ExecutorProcessesTest() noexcept override = default;

 protected:
  LaunchSpec started(LateTask task) {
    const size_t before = host_.started.size();
    processes_.start(std::move(task));
    while (host_.started.size() == before) io_.waitScope.poll();
    return host_.started.back();
  }
  kj::Own<kj::AsyncIoStream> connectedTo(const std::string& socket) {
    return connectTo(net_.network, net_.io, "unix:" + socket).wait(io_.waitScope);
  }
  // What a process that connects there and says this key is told: the kind of the frame, 0 where it is hung
  // up on.
  char answerTo(const std::string& socket, const std::string& key) {
    auto stream = connectedTo(socket);
    const std::string hello = helloFrame(key);
    stream->write(hello.data(), hello.size()).wait(io_.waitScope);
    FrameReader frames;
    char piece[4096];
    // Hung up on before it was read, what was said resets the connection.
    auto read = stream->tryRead(piece, 1, sizeof piece).catch_([](kj::Exception&& exception) -> size_t {
      if (exception.getType() == kj::Exception::Type::DISCONNECTED) return 0;
      kj::throwFatalException(kj::mv(exception));
    });
    const size_t size = read.wait(io_.waitScope);
    frames.feed({piece, size});
    const auto frame = frames.next();
    return frame ? frame->kind : '\0';
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  const Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  TemporaryFolder folder_;
  PlayedHost host_;
  ExecutorProcesses processes_{net_, systemClock(), host_, {.folder = folder_.path()}};
};

LateTask taskOf(late::SlotLeaseId lease, const std::string& submitter) {
  LateTask made = task(lease);
  made.launch.submitter = submitter;
  return made;
}

using ExecutorSockets = ExecutorProcessesTest;

TEST_F(ExecutorSockets, BelongToTheUserOfTheirProcessesAlone) {
  const std::string socket = started(task(1)).env.at("TARCIL_EXECUTOR_SOCKET");
  struct stat status {};
  ASSERT_EQ(::stat(socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_uid, host_.uid);
}

TEST_F(ExecutorSockets, AreNeverSharedByTwoSubmitters) {
  const LaunchSpec alice = started(taskOf(1, "alice")), bob = started(taskOf(2, "bob"));
  EXPECT_NE(alice.env.at("TARCIL_EXECUTOR_SOCKET"), bob.env.at("TARCIL_EXECUTOR_SOCKET"));
  EXPECT_EQ(answerTo(bob.env.at("TARCIL_EXECUTOR_SOCKET"), alice.env.at("TARCIL_EXECUTOR_KEY")), '\0');
  EXPECT_EQ(answerTo(alice.env.at("TARCIL_EXECUTOR_SOCKET"), alice.env.at("TARCIL_EXECUTOR_KEY")), 'T');
}

TEST_F(ExecutorSockets, ServeProcessesOfTheirUserAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, which may connect to anybody's socket";
  host_.uid = 65534;
  const LaunchSpec spec = started(task(1));
  EXPECT_EQ(answerTo(spec.env.at("TARCIL_EXECUTOR_SOCKET"), spec.env.at("TARCIL_EXECUTOR_KEY")), '\0');
}

TEST_F(ExecutorSockets, GoWithTheLastProcess) {
  const std::string socket = started(task(1)).env.at("TARCIL_EXECUTOR_SOCKET");
  processes_.processEnded(1, 0);
  EXPECT_NE(::access(socket.c_str(), F_OK), 0);
  EXPECT_NE(started(task(2)).env.at("TARCIL_EXECUTOR_SOCKET"), socket);
}

TEST_F(ExecutorSockets, AreNotMadeForUsersThatTheServerDoesNotHave) {
  LateTask wanted = task(1);
  wanted.launch.user = "unknown";
  processes_.start(std::move(wanted));
  while (host_.ended != 1) io_.waitScope.poll();
  EXPECT_EQ(host_.code, kCodeNotStarted);
  EXPECT_TRUE(host_.started.empty());
}

TEST_F(ExecutorProcessesTest, RememberOfTheLastTasksWhichProcessRanThem) {
  auto& host = host_;
  auto& io = io_;
  auto* const processes = &processes_;
  constexpr late::SlotLeaseId kFirst = 1;
  auto stream = connectedTo(started(task(kFirst)).env.at("TARCIL_EXECUTOR_SOCKET"));
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
