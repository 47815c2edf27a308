#include "monitor/container/container_executor.h"

#include <pwd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_executor_test {

class ContainerExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    containers_.emplace(optionsIn(folder_.path()));
  }

  Containers& containers() { return *containers_; }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

TEST_F(ContainerExecutorTest, ReportsStartExitCodeAndOutput) {
  const TaskEnd end = containers().run(script(1, "echo out; echo err >&2; exit 3"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exitCode, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.problem, "");
  EXPECT_EQ(containers().out(1), "out\n");
  EXPECT_EQ(containers().err(1), "err\n");
  EXPECT_EQ(containers().events, (std::vector<std::string>{"start 1", "end 1"}));
  EXPECT_EQ(end.started, containers().started[1]);
  EXPECT_LE(end.started, end.ended);
}

TEST_F(ContainerExecutorTest, ReportsTheSignalThatEndedTheCommand) {
  const TaskEnd end = containers().run(script(1, "kill -SEGV $$"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.signal, SIGSEGV);
}

TEST_F(ContainerExecutorTest, PassesSigtermToTheCommand) {
  containers().start(script(1, "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
  containers().untilOutput(1, "ready");
  containers().executor().signal(1, SIGTERM);
  EXPECT_EQ(containers().endOf(1).exitCode, 5);
  EXPECT_EQ(containers().out(1), "ready\nbye\n");
}

TEST_F(ContainerExecutorTest, SigtermRightAfterTheStartIsNotLost) {
  containers().start(taskOf(1, {"sleep", "1000"}));
  containers().executor().signal(1, SIGTERM);
  EXPECT_EQ(containers().endOf(1).signal, SIGTERM);
}

TEST_F(ContainerExecutorTest, SigkillEndsEveryProcessOfTheTask) {
  containers().start(script(1, "trap '' TERM; setsid sleep 1000 & echo ready; wait"));
  containers().untilOutput(1, "ready");
  containers().executor().signal(1, SIGKILL);
  const TaskEnd end = containers().endOf(1);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST_F(ContainerExecutorTest, TheTaskEndsWithItsCommandWhateverTheCommandLeftBehind) {
  const TaskEnd end = containers().run(script(1, "setsid sleep 1000 & echo done"));
  EXPECT_TRUE(end.succeeded());
  EXPECT_EQ(containers().out(1), "done\n");
}

TEST_F(ContainerExecutorTest, SaysWhyACommandCannotBeExecuted) {
  const TaskEnd missing = containers().run(taskOf(1, {"no-such-program"}));
  EXPECT_EQ(missing.cause, EndCause::kNeverStarted);
  EXPECT_EQ(missing.exitCode, 127);
  EXPECT_EQ(missing.started, kNever);
  EXPECT_NE(missing.problem.find("cannot execute 'no-such-program': No such file or directory"),
            std::string::npos);
  EXPECT_NE(missing.problem.find("PATH was /usr/local/sbin:"), std::string::npos);
  EXPECT_EQ(containers().events, (std::vector<std::string>{"end 1"}));

  const TaskEnd denied = containers().run(taskOf(2, {"/etc/passwd"}));
  EXPECT_EQ(denied.exitCode, 126);
  EXPECT_NE(denied.problem.find("cannot execute '/etc/passwd': Permission denied"), std::string::npos);
}

TEST_F(ContainerExecutorTest, SaysWhyATaskCannotBeStarted) {
  LaunchSpec noFolder = taskOf(1, {"true"});
  noFolder.workdir = "/no/such/folder";
  const TaskEnd folderEnd = containers().run(noFolder);
  EXPECT_NE(folderEnd.problem.find("cannot enter the working directory '/no/such/folder'"),
            std::string::npos);
  EXPECT_FALSE(serversFault(folderEnd));
  LaunchSpec closedFolder = taskOf(2, {"true"});
  closedFolder.workdir = "/root";
  EXPECT_NE(containers().run(closedFolder).problem.find("'/root': Permission denied"), std::string::npos);
  LaunchSpec noUser = taskOf(3, {"true"});
  noUser.user = "nobody-by-that-name";
  const TaskEnd end = containers().run(noUser);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.problem, "user 'nobody-by-that-name' does not exist on this server");
  EXPECT_FALSE(serversFault(end)) << "it lies with the job";
  const TaskEnd noCommand = containers().run(taskOf(4, {}));
  EXPECT_EQ(noCommand.cause, EndCause::kNeverStarted);
  EXPECT_FALSE(serversFault(noCommand));
}

TEST_F(ContainerExecutorTest, TheListenerIsNotCalledFromWithinStart) {
  LaunchSpec spec = taskOf(1, {});
  containers().executor().record(spec);
  containers().executor().start(spec, {}, {});
  EXPECT_TRUE(containers().events.empty());
  EXPECT_EQ(containers().endOf(1).cause, EndCause::kNeverStarted);
}

TEST_F(ContainerExecutorTest, StartsARepeatedAllocationOnce) {
  const LaunchSpec spec = script(1, "echo once; sleep 0.05");
  containers().start(spec);
  containers().start(spec);
  EXPECT_TRUE(containers().endOf(1).succeeded());
  EXPECT_EQ(containers().out(1), "once\n");
}

TEST_F(ContainerExecutorTest, RunsAsTheUserWithoutPrivileges) {
  containers().run(script(1, "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' /proc/self/status"));
  const passwd* nobody = ::getpwnam("nobody");
  const std::string uid = std::to_string(nobody->pw_uid), gid = std::to_string(nobody->pw_gid);
  const std::string out = containers().out(1);
  EXPECT_NE(out.find("Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid), std::string::npos) << out;
  EXPECT_NE(out.find("Gid:\t" + gid), std::string::npos) << out;
  EXPECT_NE(out.find("Groups:\t" + gid + " \n"), std::string::npos) << out;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_NE(out.find(std::string(set) + ":\t0000000000000000"), std::string::npos) << out;
  }
  EXPECT_NE(out.find("NoNewPrivs:\t1"), std::string::npos) << out;
}

TEST_F(ContainerExecutorTest, ATaskReportsItsPerformanceFromWhereItIs) {
  LaunchSpec spec = script(1,
                           "echo 12 > $TARCIL_METRIC_FILE; "
                           "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_DGRAM, 0); send($s, \"ops 34\", 0, "
                           "sockaddr_un($ENV{TARCIL_METRIC_SOCKET})) or die $!'; echo sent; exec sleep 1000");
  spec.performance = PerformanceGoal{.metric = Metric::kReported};
  containers().start(spec);
  containers().untilOutput(1, "sent");
  const auto running = containers().executor().running();
  ASSERT_EQ(running.size(), 1u);
  ASSERT_NE(running[0].inbox, nullptr);
  EXPECT_EQ(running[0].inbox->take(), 34);
  EXPECT_EQ(running[0].goal, spec.performance);
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
  EXPECT_TRUE(containers().executor().running().empty());
}

TEST_F(ContainerExecutorTest, OnlyTasksThatAreToReportHaveASocket) {
  containers().run(script(1, "ls -A; env | grep METRIC"));
  EXPECT_EQ(containers().out(1), "");
}

TEST_F(ContainerExecutorTest, OnlyUserRootRunsAsRootAndWithoutCapabilities) {
  LaunchSpec spec = script(1, "id -u; grep CapEff /proc/self/status");
  spec.user = "root";
  containers().run(spec);
  EXPECT_EQ(containers().out(1), "0\nCapEff:\t0000000000000000\n");
}

TEST_F(ContainerExecutorTest, LeaksNeitherEnvironmentNorDescriptors) {
  ::setenv("TARCIL_TEST_SECRET", "x", 1);
  const int open = ::open("/etc/passwd", O_RDONLY);  // without O_CLOEXEC
  LaunchSpec spec = script(1, "env; echo fds; ls /proc/self/fd; readlink /proc/self/fd/0");
  spec.env = {{"MINE", "a b"}, {"HOME", "/elsewhere"}, {"TARCIL_TASK", "forged"}};
  spec.task = 4;
  spec.tasks = 9;
  containers().run(spec);
  ::close(open);
  const std::string out = containers().out(1);
  EXPECT_EQ(out.find("SECRET"), std::string::npos);
  for (const char* line :
       {"MINE=a b\n", "HOME=/elsewhere\n", "USER=nobody\n", "TARCIL_TASK=4\n", "TARCIL_TASKS=9\n",
        "TARCIL_JOB=00000000000000000000000000000007\n", "TARCIL_JOB_NAME=test\n", "TARCIL_ATTEMPT=0\n",
        "TMPDIR=/run/tarcil/work\n", "fds\n0\n1\n2\n3\n/dev/null\n"}) {
    EXPECT_NE(out.find(line), std::string::npos) << line << " in " << out;
  }
}

TEST_F(ContainerExecutorTest, StartsWithDefaultSignalsAndAnEmptyMask) {
  ::signal(SIGPIPE, SIG_IGN);
  containers().run(script(1, "grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  ::signal(SIGPIPE, SIG_DFL);
  const std::string out = containers().out(1);
  EXPECT_NE(out.find("SigBlk:\t0000000000000000\n"), std::string::npos) << out;
  // Signals 32 and 33 are the C library's own.
  const uint64_t ignored = std::stoull(out.substr(out.find("SigIgn:") + 8), nullptr, 16);
  EXPECT_EQ(ignored & 0x7fff'ffff, 0u) << out;
}

TEST_F(ContainerExecutorTest, WorksInAPrivateFolderWithItsInputFiles) {
  const std::vector<InputFile> files = {{"run.sh", 04755, "#!/bin/sh\ncat data/in; pwd; touch made\n"},
                                        {"data/in", 0600, "input\n"}};
  const TaskEnd end = containers().run(taskOf(1, {"./run.sh"}), files);
  EXPECT_TRUE(end.succeeded()) << end.problem << containers().err(1);
  EXPECT_EQ(containers().out(1), "input\n/run/tarcil/work\n");
  struct stat status {};
  ASSERT_EQ(::stat((containers().folder() + "/tasks/1/work/run.sh").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
  EXPECT_EQ(status.st_uid, ::getpwnam("nobody")->pw_uid);
}

TEST_F(ContainerExecutorTest, GivesATaskOfAGangItsFileOfHosts) {
  LaunchSpec spec = script(1, "cat $TARCIL_HOSTFILE; echo $TARCIL_HOSTS");
  spec.gang = GangHosts{"a,b", "a slots=1\nb slots=1\n"};
  containers().run(spec);
  EXPECT_EQ(containers().out(1), "a slots=1\nb slots=1\na,b\n");
}

TEST_F(ContainerExecutorTest, RefusesInputFilesThatLeadOutOfTheFolder) {
  const TaskEnd end = containers().run(taskOf(1, {"true"}), {{"../escaped", 0644, "x"}});
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_NE(end.problem.find("input file '../escaped'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(containers().folder() + "/tasks/1/escaped"));
}

TEST_F(ContainerExecutorTest, LinksThatATaskLeavesLeadNowhere) {
  const std::string outside = containers().folder() + "/../outside";
  std::filesystem::create_directory(outside);
  std::ofstream(outside + "/kept") << "\n";
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(outside.c_str(), &before), 0);
  const std::string link = "ln -s " + std::filesystem::canonical(outside).string() + " ";
  containers().run(script(1, link + "a; " + link + "/tmp/b; mkdir c; " + link + "c/d; ls"));
  EXPECT_EQ(containers().out(1), "a\nc\n");
  containers().executor().forget(1);
  while (!std::filesystem::is_empty(containers().folder() + "/trash")) std::this_thread::yield();
  EXPECT_TRUE(std::filesystem::exists(outside + "/kept")) << "what they lead to is not swept with them";
  ASSERT_EQ(::stat(outside.c_str(), &after), 0);
  EXPECT_EQ(std::pair(after.st_uid, after.st_mode), std::pair(before.st_uid, before.st_mode));
}

TEST_F(ContainerExecutorTest, ForgettingKeepsTheOutputAndDropsTheWork) {
  containers().run(script(1, "echo kept; mkdir -p a/b; echo x > a/b/c"));
  containers().executor().forget(1);
  EXPECT_EQ(containers().out(1), "kept\n");
  EXPECT_FALSE(std::filesystem::exists(containers().folder() + "/tasks/1"));
  EXPECT_FALSE(std::filesystem::exists(containers().folder() + "/done/1/work"));
}

// The program lies below a folder that only root may enter, and below /tmp, of which tasks see another.
TEST(ContainerWithTarcil, ExecutesTheServersOwnWhereverThatLies) {
  SKIP_WITHOUT_CONTAINERS();
  TemporaryFolder folder;
  ContainerOptions options = optionsIn(folder.path());
  options.tarcil = folder.path() + "/program";
  std::filesystem::copy_file("/bin/ls", options.tarcil);
  Containers containers(std::move(options));
  EXPECT_TRUE(containers.run(taskOf(1, {"tarcil", "/proc/self/fd"})).succeeded());
  EXPECT_EQ(containers.out(1), "0\n1\n2\n3\n");  // 3 is the folder that it lists

  std::filesystem::remove(folder.path() + "/program");
  const TaskEnd end = containers.run(taskOf(2, {"tarcil"}));
  EXPECT_TRUE(serversFault(end));
  EXPECT_NE(end.problem.find("/program"), std::string::npos);
}

}  // namespace tarcil::container_executor_test
