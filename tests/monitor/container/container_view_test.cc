// What a task on the server's own files sees and may change: each test tries it from inside.
#include <gmock/gmock.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "monitor/container/task_view.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/support/device_folder.h"

namespace tarcil::container_view_test {

using testing::HasSubstr;
using testing::Not;

class ContainerViewTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    options_ = optionsIn(folder_.path());
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  // Outside of what tasks may write to.
  std::string elsewhere(const std::string& name) const { return elsewhere_.path() + "/" + name; }
  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  std::string outputOf(const std::string& text, const std::string& user = "nobody") {
    LaunchSpec spec = script(++last_, text);
    spec.user = user;
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(last_) + containers().err(last_);
  }
  template <typename Change>
  void reopen(Change change) {
    containers_.reset();
    change(options_);
  }
  void write(const std::string& file) const { std::ofstream(file) << "secret\n"; }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_, elsewhere_{"/opt"};
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

// Where it fails it leaves nothing on the server.
TEST_F(ContainerViewTest, TheServersFilesAreReadAndNotChanged) {
  write(elsewhere("file"));
  const std::vector<std::string> files = {"/etc/tarcil-view-test", "/usr/tarcil-view-test",
                                          "/tarcil-view-test"};
  std::string tries =
      "cat " + elsewhere("file") + "; rm " + elsewhere("file") + "; chmod 755 /etc && echo changed; ";
  for (const std::string& file : files) tries.append("echo x > ").append(file).append("; ");
  const std::string out = outputOf(tries, "root");
  EXPECT_THAT(out, HasSubstr("secret\n"));
  EXPECT_THAT(out, testing::Not(HasSubstr("changed")));
  for (const std::string& file : files) {
    EXPECT_THAT(out, HasSubstr("cannot create " + file + ": Read-only file system"));
    EXPECT_FALSE(std::filesystem::remove(file));
  }
  EXPECT_EQ(textOf(elsewhere("file")), "secret\n");
}

TEST_F(ContainerViewTest, FoldersOfUsersAreWrittenToAsTheUserMay) {
  ::chmod(at("").c_str(), 0777);
  EXPECT_EQ(outputOf("echo mine > " + at("made") + " && cat " + at("made")), "mine\n");
  EXPECT_EQ(textOf(at("made")), "mine\n") << "on the server";
  EXPECT_THAT(outputOf("echo x > /home/x; echo x > /srv/x"),
              HasSubstr("cannot create /srv/x: Permission denied"));
}

TEST_F(ContainerViewTest, WhatTheOperatorSharesIsWrittenToAsTheUserMay) {
  std::filesystem::create_directories(elsewhere("open"));
  ::chmod(elsewhere("").c_str(), 0755);
  ::chmod(elsewhere("open").c_str(), 0777);
  options_.shares = {elsewhere("open")};
  EXPECT_EQ(outputOf("echo a > " + elsewhere("open/a") + " && echo made"), "made\n");
  EXPECT_EQ(textOf(elsewhere("open/a")), "a\n");
  EXPECT_THAT(outputOf("echo a > " + elsewhere("a"), "root"), HasSubstr("Read-only file system"));
}

TEST_F(ContainerViewTest, ASharedFolderBringsNoDevices) {
  if (::mknod(at("zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0)
    GTEST_SKIP() << "no device nodes can be made here";
  ::chmod(at("zero").c_str(), 0666);
  EXPECT_THAT(outputOf("head -c1 " + at("zero"), "root"), HasSubstr("Permission denied"));
}

TEST_F(ContainerViewTest, FilesOfTheClusterAreNotThere) {
  write(elsewhere("token"));
  std::filesystem::create_directories(elsewhere("cluster/run"));
  write(elsewhere("cluster/run/file"));
  options_.hidden = {elsewhere("token"), elsewhere("cluster")};
  const std::string probe = "cat " + elsewhere("token") + "; ls " + elsewhere("cluster") + "; cat " +
                            elsewhere("cluster/run/file") + "; ls " + options_.dataDirectory + "; echo end";
  for (const bool hostView : {false, true}) {
    options_.hostView = hostView;
    Containers containers(options_);
    LaunchSpec spec = script(hostView ? 200 : 100, probe);
    spec.user = "root";
    containers.run(spec);
    EXPECT_EQ(containers.out(spec.allocation), "end\n");
    EXPECT_THAT(containers.err(spec.allocation), HasSubstr(options_.dataDirectory + "': Permission denied"));
  }
}

// Any user of this machine who is in a group.
TEST_F(ContainerViewTest, FilesOfGroupsAreThoseOfTheUsersOwnAndThoseThatTheOperatorAllows) {
  std::string user;
  gid_t group = 0;
  while (const auto* entry = ::getgrent()) {
    if (entry->gr_mem[0] == nullptr || ::getpwnam(entry->gr_mem[0]) == nullptr) continue;
    user = entry->gr_mem[0];
    group = entry->gr_gid;
    break;
  }
  ::endgrent();
  if (user.empty()) GTEST_SKIP() << "no user of this machine is in a group";
  const std::string own = std::to_string(::getpwnam(user.c_str())->pw_gid);
  EXPECT_EQ(outputOf("id -G", user), own + "\n");
  reopen([group](ContainerOptions& options) { options.groups = {group}; });
  EXPECT_EQ(outputOf("id -G", user), own + " " + std::to_string(group) + "\n");
}

TEST_F(ContainerViewTest, ItHasADevOfItsOwn) {
  EXPECT_EQ(outputOf("ls /dev; ls -A /dev/shm /dev/pts; stat -c '%a %t:%T' /dev/null /dev/tty"),
            "fd\nfull\nmqueue\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n"
            "/dev/pts:\nptmx\n\n/dev/shm:\n666 1:3\n666 5:0\n");
  EXPECT_EQ(
      outputOf(
          "head -c3 /dev/zero | od -An -tx1; head -c2 /dev/urandom | wc -c; echo x > /dev/full; echo $?; "
          "echo fd | cat /dev/fd/0; echo s > /dev/shm/s && cat /dev/shm/s"),
      " 00 00 00\n2\n1\nfd\ns\nsh: 1: echo: echo: I/O error\n");
}

TEST_F(ContainerViewTest, ItMakesTerminalsOfItsOwn) {
  EXPECT_EQ(outputOf("SHELL=/bin/sh script -qec 'tty' /dev/null </dev/null | tr -d '\\r'"), "/dev/pts/0\n");
}

TEST_F(ContainerViewTest, ADeviceThatIsSharedIsThere) {
  DeviceFolder nodes;
  nodes.add("shared", 1, 5);
  nodes.add("other", 1, 5);
  if (!nodes.isMade()) GTEST_SKIP() << "no device nodes can be made here";
  options_.shares = {nodes.at("shared")};
  EXPECT_EQ(outputOf("head -c2 " + nodes.at("shared") + " | od -An -tx1; ls " + nodes.at("")),
            " 00 00\nshared\n");
}

// A descriptor or a name that gets into the task all the same.
TEST_F(ContainerViewTest, OtherDevicesDoNotOpenInItsCgroup) {
  const std::string mount = parseCgroupMounts(textOf("/proc/self/mounts")).v2;
  if (mount.empty()) GTEST_SKIP() << "no cgroup version 2";
  containers().start(script(900, "echo ready; sleep 1000"));
  containers().untilOutput(900, "ready");
  const std::string cgroup = containers().executor().counted().unified + "/900/cgroup.procs";
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(cgroup) << ::getpid() << std::endl;
    const bool null = ::open("/dev/null", O_RDWR) >= 0;
    const bool log = ::open("/dev/kmsg", O_RDONLY) >= 0 || errno != EPERM;
    ::_exit((null ? 0 : 1) + (log ? 2 : 0));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  containers().executor().signal(900, SIGKILL);
  containers().endOf(900);
}

TEST_F(ContainerViewTest, WhatTheKernelTellsOfTheMachineIsNotThere) {
  for (const char* user : {"root", "nobody"}) {
    EXPECT_EQ(outputOf("cat /proc/kcore /proc/keys /proc/timer_list /proc/kpageflags 2>/dev/null | wc -c; "
                       "ls /sys/firmware 2>/dev/null | wc -l; ls /run; ls /run/tarcil",
                       user),
              "0\n0\ntarcil\nwork\n");
  }
}

// Of files in /proc by which a machine is set up, all belong to root, but one of the pid namespace, which
// takes a capability to write.
TEST_F(ContainerViewTest, NothingThatSetsUpTheMachineIsWrittenTo) {
  for (const char* user : {"root", "nobody"}) {
    EXPECT_EQ(
        outputOf("for f in $(find /proc/sys /proc/irq /proc/bus /proc/fs /proc/sysrq-trigger /sys -type f "
                 "-writable ! -name ns_last_pid 2>/dev/null); do ( : >> $f ) 2>/dev/null && echo $f; done",
                 user),
        "");
  }
}

TEST_F(ContainerViewTest, TheOperatorMayGiveTheHostsView) {
  options_.hostView = true;
  EXPECT_EQ(
      outputOf("echo x > " + elsewhere("x") + " && echo made; [ -e /dev/console ] && echo console", "root"),
      "made\nconsole\n");
  EXPECT_EQ(textOf(elsewhere("x")), "x\n");
}

}  // namespace tarcil::container_view_test
