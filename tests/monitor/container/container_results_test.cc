// Files that are kept of real tasks, however these end.
#include <gmock/gmock.h>

#include "monitor/container/task_results.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_results_test {

using testing::HasSubstr;

class ContainerResults : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    options_ = optionsIn(folder_.path());
  }

  static LaunchSpec keeping(AllocationId allocation, const std::string& text) {
    LaunchSpec spec = script(allocation, text);
    spec.results = {"out/*", "report"};
    return spec;
  }
  std::string read(AllocationId allocation, const std::string& path) const {
    const auto text = readResult(options_.dataDirectory, allocation, path, 0, 1 << 20);
    return text ? *text : "error: " + text.error().message;
  }
  Containers& containers() {
    if (!containers_) containers_ = std::make_unique<Containers>(options_);
    return *containers_;
  }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Containers> containers_;
};

TEST_F(ContainerResults, AreThereWhenTheEndIsReportedAndAfterItIsForgotten) {
  const TaskEnd end =
      containers().run(keeping(1, "mkdir out; echo one > out/1; echo two > report; echo 3 > other"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exitCode, 0);
  EXPECT_EQ(end.problem, "");
  EXPECT_EQ(read(1, "out/1"), "one\n");
  containers().executor().forget(1);
  EXPECT_EQ(read(1, "out/1"), "one\n");
  EXPECT_EQ(read(1, "report"), "two\n");
  EXPECT_THAT(read(1, "other"), HasSubstr("error"));
}

TEST_F(ContainerResults, OfTasksThatFailAndThatAreKilled) {
  EXPECT_EQ(containers().run(keeping(1, "echo failed > report; exit 3")).exitCode, 3);
  EXPECT_EQ(read(1, "report"), "failed\n");
  containers().start(keeping(2, "echo killed > report; echo ready; sleep 1000"));
  containers().untilOutput(2, "ready");
  containers().executor().signal(2, SIGKILL);
  EXPECT_EQ(containers().endOf(2).signal, SIGKILL);
  EXPECT_EQ(read(2, "report"), "killed\n");
}

TEST_F(ContainerResults, TheEndSaysWhatWasLeft) {
  const TaskEnd end = containers().run(keeping(1, "truncate -s 65M report; mkdir out; echo small > out/f"));
  EXPECT_THAT(end.problem, HasSubstr("result files left behind: 1, 'report' the first"));
  EXPECT_EQ(read(1, "out/f"), "small\n");
}

// A link to what the task cannot read, in place of a file and of a folder.
TEST_F(ContainerResults, NothingThatTheTaskCannotRead) {
  containers().run(keeping(1, "ln -s /etc/shadow report; ln -s /etc out"));
  EXPECT_TRUE(listResults(options_.dataDirectory, 1, "")->files.empty());
}

TEST_F(ContainerResults, AreGoneWithTheFolderThatAnotherTaskGets) {
  options_.keepDone.tasks = 1;
  Containers few(options_);
  few.run(keeping(1, "echo first > report"));
  few.executor().forget(1);
  EXPECT_EQ(read(1, "report"), "first\n");
  few.run(script(2, "true"));
  few.executor().forget(2);
  EXPECT_EQ(listResults(options_.dataDirectory, 1, "").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(listResults(options_.dataDirectory, 2, "")->files.empty());
}

// Its processes end while no monitor is there.
TEST_F(ContainerResults, AreKeptByASuccessor) {
  {
    Containers first(options_);
    first.start(keeping(1, "echo ready; sleep 0.3; echo late > report"));
    first.untilOutput(1, "ready");
  }
  const std::string exit = options_.dataDirectory + "/tasks/1/exit";
  while (!std::filesystem::exists(exit)) ::usleep(10'000);
  Containers second(options_);
  const auto recovered = second.executor().recover();
  ASSERT_EQ(recovered.size(), 1u);
  EXPECT_EQ(recovered[0].state, RecoveredTask::State::kRunning) << "until its files are kept";
  EXPECT_EQ(second.endOf(1).exitCode, 0);
  EXPECT_EQ(read(1, "report"), "late\n");
}

}  // namespace tarcil::container_results_test
