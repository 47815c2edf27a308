// Files of the job's choice that output goes to besides: whose they are, which files they may be, and what
// becomes of a task whose disk does not do its part.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"
#include "tests/support/hanging_disk.h"

namespace tarcil::container_output_file_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

class OutputFileTest : public testing::Test {
 protected:
  static constexpr uid_t kNobody = 65534;

  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    fs::create_directory(at(""));
    ASSERT_EQ(::chown(at("").c_str(), kNobody, kNobody), 0);
  }

  Containers& containers() {
    if (!containers_) {
      ContainerOptions options = optionsIn(folder_.path());
      options.allowedRoots = {folder_.path()};
      options.fileWait = fileWait_;
      containers_.emplace(options);
    }
    return *containers_;
  }

  // In a folder of the user nobody.
  std::string at(const std::string& name) const { return folder_.path() + "/logs/" + name; }

  LaunchSpec writing(const std::string& text, const std::string& output, const std::string& error = "") {
    LaunchSpec spec = script(next_++, text);
    spec.output = output;
    spec.error = error;
    return spec;
  }
  void expectRefused(const std::string& path, const std::string& reason, const std::string& user = "nobody") {
    LaunchSpec spec = writing("touch " + at("ran"), path);
    spec.user = user;
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kNeverStarted);
    EXPECT_EQ(end.exitCode, 126);
    EXPECT_EQ(end.problem, "cannot write to '" + path + "' (output of the job): " + reason +
                               "; it takes a folder that user " + user +
                               " may write into on s1, with no symbolic link on the way: make it, or write "
                               "another path");
    EXPECT_FALSE(fs::exists(at("ran")));
  }

  // Of the shim of a running task, where it moves output: in none of the task's namespaces.
  pid_t writerOf(AllocationId allocation) {
    const std::string folder = containers().folder() + "/tasks/" + std::to_string(allocation);
    const std::string shim = std::to_string(std::stoi(textOf(folder + "/lock")));
    const auto own = fs::read_symlink("/proc/self/ns/pid");
    std::istringstream children(textOf("/proc/" + shim + "/task/" + shim + "/children"));
    for (pid_t pid; children >> pid;) {
      std::error_code ended;
      if (fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/pid", ended) == own) return pid;
    }
    return 0;
  }

  TemporaryFolder folder_;
  Duration fileWait_ = std::chrono::minutes(1);

 private:
  std::optional<Containers> containers_;
  AllocationId next_ = 1;
};

TEST_F(OutputFileTest, HasWhatIsKeptAndBelongsToTheTasksUser) {
  const TaskEnd end = containers().run(writing("echo one; echo two >&2", at("out"), at("err")));
  EXPECT_EQ(end.exitCode, 0);
  EXPECT_THAT(end.problem, IsEmpty());
  EXPECT_EQ(textOf(at("out")), "one\n");
  EXPECT_EQ(textOf(at("err")), "two\n");
  EXPECT_EQ(containers().out(1), "one\n");
  EXPECT_EQ(containers().err(1), "two\n");
  struct stat status {};
  ASSERT_EQ(::stat(at("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kNobody);
  EXPECT_EQ(status.st_mode & 07777, 0644u);
}

TEST_F(OutputFileTest, OfBothStreamsIsOneWhereTheyHaveTheSamePath) {
  const std::string first = "echo one; while [ ! -s " + at("both") + " ]; do sleep 0.01; done; ";
  containers().run(writing(first + "echo two >&2", at("both"), at("both")));
  EXPECT_EQ(textOf(at("both")), "one\ntwo\n");
}

TEST_F(OutputFileTest, OfStandardErrorAlone) {
  containers().run(writing("echo one; echo two >&2", "", at("err")));
  EXPECT_EQ(textOf(at("err")), "two\n");
}

TEST_F(OutputFileTest, BeginsAnewWithEachAttempt) {
  containers().run(writing("echo a long first line", at("out")));
  containers().run(writing("echo short", at("out")));
  EXPECT_EQ(textOf(at("out")), "short\n");
}

TEST_F(OutputFileTest, IsThereBeforeTheCommandIs) {
  containers().run(writing("test -e " + at("out") + " && echo yes", at("out")));
  EXPECT_EQ(textOf(at("out")), "yes\n");
}

TEST_F(OutputFileTest, HasAllOfWhatIsKeptInPart) {
  LaunchSpec spec = writing("seq 1 300000", at("out"));
  spec.limits.outputBytes = 10'000;
  const TaskEnd end = containers().run(spec);
  EXPECT_THAT(end.problem, MatchesRegex("stdout without its first [0-9]+ bytes: the limit of output is "
                                        "reached"));
  std::string all;
  for (int i = 1; i <= 300'000; ++i) all += std::to_string(i) + "\n";
  EXPECT_TRUE(textOf(at("out")) == all);
}

TEST_F(OutputFileTest, IsTheServersWhereTheTaskHasARootOfItsOwn) {
  const std::string root = folder_.path() + "/root";
  makeRootImage(root, {"sh", "echo", "test"});
  LaunchSpec spec = writing("test -e " + at("") + " || echo not here", at("out"));
  spec.container.rootfs = root;
  EXPECT_EQ(containers().run(spec).exitCode, 0);
  EXPECT_EQ(textOf(at("out")), "not here\n");
}

TEST_F(OutputFileTest, TakesAFolderThatIsThere) {
  expectRefused(at("missing/out"), "No such file or directory");
  std::ofstream(at("file")) << "x";
  expectRefused(at("file/out"), "Not a directory");
  expectRefused(at(std::string(300, 'x')), "File name too long");
}

TEST_F(OutputFileTest, IsOpenedWithTheRightsOfTheTasksUser) {
  fs::create_directory(at("root"));
  expectRefused(at("root/out"), "Permission denied");
  std::ofstream(at("roots")) << "before";
  expectRefused(at("roots"), "Permission denied");
  EXPECT_EQ(textOf(at("roots")), "before");
  fs::create_directory(at("closed"));
  ::chmod(at("closed").c_str(), 0700);
  expectRefused(at("closed/out"), "Permission denied");
  EXPECT_TRUE(fs::is_empty(at("root")));
}

TEST_F(OutputFileTest, IsReachedWithoutSymbolicLinks) {
  std::ofstream(at("target")) << "before";
  ::chmod(at("target").c_str(), 0666);
  fs::create_symlink(at("target"), at("link"));
  expectRefused(at("link"), "Too many levels of symbolic links");
  fs::create_directory(at("real"));
  ::chmod(at("real").c_str(), 0777);
  fs::create_symlink(at("real"), at("way"));
  expectRefused(at("way/out"), "Too many levels of symbolic links");
  expectRefused("/proc/self/cwd/out", "Too many levels of symbolic links");
  EXPECT_EQ(textOf(at("target")), "before");
}

TEST_F(OutputFileTest, IsARegularFileOfADisk) {
  fs::create_directory(at("folder"));
  expectRefused(at("folder"), "Is a directory");
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0666), 0);
  ::chmod(at("fifo").c_str(), 0666);
  expectRefused(at("fifo"), "No such device or address");
  const int reader = ::open(at("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  expectRefused(at("fifo"), "Not a regular file");
  ::close(reader);
  expectRefused("/dev/null", "Not a regular file");
  // Root may write it without any capability, as it may write what sets up the machine.
  const std::string name = "/proc/" + std::to_string(::getpid()) + "/comm";
  const std::string before = textOf(name);
  expectRefused(name, "Not a file of a disk", "root");
  EXPECT_EQ(textOf(name), before);
}

TEST_F(OutputFileTest, ALongPathLeavesRoomForTheReason) {
  std::string path = at("");
  while (path.size() < 4'000) path += "x/";
  const TaskEnd end = containers().run(writing("true", path + "out"));
  EXPECT_THAT(end.problem, HasSubstr("' (output of the job): No such file or directory; it takes"));
}

TEST_F(OutputFileTest, OnAFullDiskIsCutAndTheTaskGoesOn) {
  const std::string small = folder_.path() + "/small";
  fs::create_directory(small);
  ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m,mode=777"), 0);
  const TaskEnd end = containers().run(writing("seq 1 300000; echo end", small + "/out"));
  struct stat status {};
  ::stat((small + "/out").c_str(), &status);
  ::umount2(small.c_str(), MNT_DETACH);
  EXPECT_EQ(end.exitCode, 0);
  EXPECT_EQ(end.problem, "the file of output cut after 1048576 bytes: No space left on device");
  EXPECT_EQ(status.st_size, 1 << 20);
  const auto last = readOutput(containers().folder(), 1, Stream::kStdout, 1'988'895, 100);
  EXPECT_EQ(last->text, "end\n");
}

TEST_F(OutputFileTest, GoesOnWhereWhatWritesItWasKilled) {
  containers().start(
      writing("echo one; while [ ! -e " + at("go") + " ]; do sleep 0.01; done; echo two", at("out")));
  containers().untilOutput(1, "one");
  while (textOf(at("out")) != "one\n") containers().wait(kj::MILLISECONDS);
  const pid_t writer = writerOf(1);
  ASSERT_GT(writer, 0);
  ASSERT_EQ(::kill(writer, SIGKILL), 0);
  while (writerOf(1) != 0) containers().wait(kj::MILLISECONDS);
  std::ofstream(at("go")) << "";
  EXPECT_THAT(containers().endOf(1).problem, IsEmpty());
  EXPECT_EQ(textOf(at("out")), "one\ntwo\n");
}

// Another process of theirs must not be able to end it, or to look into it.
TEST_F(OutputFileTest, IsWrittenByAProcessThatIsOutOfTheUsersReach) {
  containers().start(writing("echo one; exec sleep 1000", at("out")));
  containers().untilOutput(1, "one");
  const std::string status = textOf("/proc/" + std::to_string(writerOf(1)) + "/status");
  EXPECT_THAT(status, HasSubstr("\nUid:\t0\t0\t0\t65534\n"));
  EXPECT_THAT(status, HasSubstr("\nCapEff:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("\nCapPrm:\t0000000000000000\n"));
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
}

class OutputFileOnAHangingDisk : public OutputFileTest {
 protected:
  void SetUp() override {
    OutputFileTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string reason = whyNoHangingDisk(); !reason.empty()) GTEST_SKIP() << reason;
    disk_.emplace();
    ::chmod(disk_->at("").c_str(), 0777);
    fileWait_ = std::chrono::seconds(1);
  }
  std::optional<HangingDisk> disk_;
};

TEST_F(OutputFileOnAHangingDisk, ATaskThatIsKilledEnds) {
  containers().start(writing("echo one; while [ ! -e " + at("go") +
                                 " ]; do sleep 0.01; done; echo two; "
                                 "touch " +
                                 at("said") + "; exec sleep 1000",
                             disk_->at("out")));
  while (textOf(disk_->at("out")) != "one\n") containers().wait(kj::MILLISECONDS);
  disk_->hang();
  std::ofstream(at("go")) << "";
  while (!fs::exists(at("said"))) containers().wait(kj::MILLISECONDS);
  containers().executor().signal(1, SIGKILL);
  const TaskEnd end = containers().endOf(1);
  disk_->goOn();
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.problem, "the file of output cut after 4 bytes: its disk does not answer");
  EXPECT_EQ(containers().out(1), "one\ntwo\n");
}

TEST_F(OutputFileOnAHangingDisk, ATaskDoesNotStart) {
  disk_->hang();
  const TaskEnd end = containers().run(writing("touch " + at("ran"), disk_->at("out")));
  disk_->goOn();
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.exitCode, 126);
  EXPECT_EQ(end.problem, "cannot open the files of output and error of the job: its disk does not answer");
  EXPECT_FALSE(fs::exists(at("ran")));
}

}  // namespace tarcil::container_output_file_test
