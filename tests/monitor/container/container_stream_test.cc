// Output that somebody takes as it is written: the task waits for them, and nothing is lost.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_stream_test {

using testing::EndsWith;

constexpr uint64_t kLimit = 64 << 10;

class StreamTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_CONTAINERS(); }

  Containers& containers() {
    if (!containers_) {
      ContainerOptions options = optionsIn(folder_.path());
      options.readerWait = readerWait_;
      containers_.emplace(options);
    }
    return *containers_;
  }
  void restartMonitor() {
    containers_.reset();
    containers().executor().recover();
  }

  void start(const std::string& text) {
    LaunchSpec spec = script(1, text);
    spec.streamed = true;
    spec.limits.outputBytes = kLimit;
    containers().start(spec);
  }

  // What there is from `offset` on, after it was said that what is before has arrived.
  std::string take(Stream stream, uint64_t offset) {
    tellTaken(containers().folder(), 1, stream, offset);
    const auto part = readOutput(containers().folder(), 1, stream, offset, 1 << 20);
    EXPECT_EQ(part->offset, offset) << "some of it is missing";
    return part->text;
  }
  // All of it, to the task's end.
  std::string takeAll(Stream stream, std::string taken = "") {
    for (;;) {
      const bool isOver = containers().ended.contains(1);
      const std::string more = take(stream, taken.size());
      taken += more;
      if (more.empty() && isOver) return taken;
      if (more.empty()) containers().wait(kj::MILLISECONDS);
    }
  }

  uint64_t bytesOf(const char* name, bool onDisk = false) {
    struct stat status {};
    const std::string file = containers().folder() + "/tasks/1/" + name;
    if (::stat(file.c_str(), &status) != 0) return 0;
    return static_cast<uint64_t>(onDisk ? status.st_blocks * 512 : status.st_size);
  }
  void untilFull(const char* name) {
    while (bytesOf(name) < kLimit) containers().wait(kj::MILLISECONDS);
  }

  static std::string numbers(int last) {
    std::string text;
    for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
    return text;
  }

  TemporaryFolder folder_;
  Duration readerWait_ = std::chrono::hours(1);

 private:
  std::optional<Containers> containers_;
};

TEST_F(StreamTest, ArrivesWholeHoweverLittleIsKept) {
  start("seq 1 500000; echo end >&2");
  EXPECT_TRUE(takeAll(Stream::kStdout) == numbers(500'000));
  EXPECT_EQ(takeAll(Stream::kStderr), "end\n");
  EXPECT_EQ(containers().endOf(1).exitCode, 0);
  EXPECT_LT(bytesOf("stdout", true), 4 * kLimit);
}

TEST_F(StreamTest, WaitsForAReaderThatReadsNothing) {
  start("seq 1 100000; echo end");
  untilFull("stdout");
  // A pump that goes on would have moved it by the time that another task has run.
  LaunchSpec other = script(2, "seq 1 100000");
  containers().run(other);
  EXPECT_LT(bytesOf("stdout"), 3 * kLimit);
  EXPECT_LE(bytesOf("stdout", true), 3 * kLimit);
  EXPECT_TRUE(takeAll(Stream::kStdout) == numbers(100'000) + "end\n");
  EXPECT_THAT(containers().endOf(1).problem, EndsWith("bytes: the limit of output is reached"));
}

TEST_F(StreamTest, OfOneKindDoesNotWaitForTheOther) {
  start("seq 1 100000 >&2 & seq 1 100000; wait");
  std::string out;
  while (out.size() < numbers(100'000).size()) {
    out += take(Stream::kStdout, out.size());
    containers().wait(kj::MILLISECONDS);
  }
  EXPECT_TRUE(out == numbers(100'000));
  untilFull("stderr");
  EXPECT_FALSE(containers().ended.contains(1));
  EXPECT_TRUE(takeAll(Stream::kStderr) == numbers(100'000));
}

TEST_F(StreamTest, GoesOnAfterTheMonitorHasDied) {
  start("seq 1 100000");
  untilFull("stdout");
  const std::string first = take(Stream::kStdout, 0);
  restartMonitor();
  EXPECT_TRUE(takeAll(Stream::kStdout, first) == numbers(100'000));
}

TEST_F(StreamTest, OfATaskThatIsKilledIsThereUpToThen) {
  start("exec seq 1 100000");
  untilFull("stdout");
  containers().executor().signal(1, SIGKILL);
  EXPECT_EQ(containers().endOf(1).signal, SIGKILL);
  const std::string text = takeAll(Stream::kStdout);
  EXPECT_TRUE(numbers(100'000).starts_with(text));
  EXPECT_GE(text.size(), kLimit);
}

TEST_F(StreamTest, IsDroppedWhereNobodyTakesIt) {
  readerWait_ = std::chrono::seconds(1);
  start("seq 1 100000");
  const TaskEnd end = containers().endOf(1);
  EXPECT_EQ(end.exitCode, 0);
  EXPECT_THAT(end.problem, EndsWith("the limit of output is reached, and nobody took it"));
}

TEST_F(StreamTest, OfATaskThatIsNotStreamedIsNotWaitedFor) {
  LaunchSpec spec = script(1, "seq 1 100000");
  spec.limits.outputBytes = kLimit;
  EXPECT_THAT(containers().run(spec).problem, EndsWith("bytes: the limit of output is reached"));
}

}  // namespace tarcil::container_stream_test
