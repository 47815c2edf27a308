// The file that a task's standard input is read from: input of a job.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_input_test {

class InputTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    containers_.emplace(optionsIn(folder_.path()));
  }

  static LaunchSpec reading(AllocationId allocation, const std::string& input) {
    LaunchSpec spec = script(allocation, "cat; touch ran");
    spec.input = input;
    return spec;
  }

  std::string made(const std::string& name, const std::string& content, mode_t mode = 0644) const {
    std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  void expectRefused(const std::string& input, const std::string& reason) {
    const TaskEnd end = containers_->run(reading(++last_, input));
    EXPECT_EQ(end.cause, EndCause::kNeverStarted) << input;
    EXPECT_EQ(end.exitCode, 126) << input;
    EXPECT_EQ(end.problem,
              "cannot read '" + input + "': " + reason +
                  " (input of the job; it must be a regular file there, and the task's user may read it)");
    EXPECT_EQ(containers_->out(last_), "");
  }

  TemporaryFolder folder_;
  std::optional<Containers> containers_;
  AllocationId last_ = 10;
};

TEST_F(InputTest, IsAFileThatWasShippedOrOneOfTheServer) {
  EXPECT_EQ(containers_->run(reading(1, "in/words"), {{.path = "in/words", .content = "shipped\n"}}).exitCode,
            0);
  EXPECT_EQ(containers_->out(1), "shipped\n");
  EXPECT_EQ(containers_->run(reading(2, made("words", "of the server\n"))).exitCode, 0);
  EXPECT_EQ(containers_->out(2), "of the server\n");
  LaunchSpec none = reading(3, "");
  EXPECT_EQ(containers_->run(none).exitCode, 0);
  EXPECT_EQ(containers_->out(3), "");
}

TEST_F(InputTest, IsReadFromTheWorkingDirectoryOfTheJobsChoice) {
  made("words", "there\n");
  LaunchSpec spec = script(1, "cat");
  spec.workdir = folder_.path();
  spec.input = "words";
  containers_->run(spec);
  EXPECT_EQ(containers_->out(1), "there\n");
}

TEST_F(InputTest, IsReadWithTheRightsOfTheTasksUser) {
  expectRefused(made("secret", "of root\n", 0600), "Permission denied");
}

TEST_F(InputTest, IsARegularFileThatIsThere) {
  expectRefused(folder_.path() + "/none", "No such file or directory");
  expectRefused(folder_.path(), "Invalid argument");
  const std::string fifo = folder_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  expectRefused(fifo, "Invalid argument");
}

}  // namespace tarcil::container_input_test
