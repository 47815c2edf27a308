// What a task cannot reach: each test tries it from inside.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "monitor/container/cgroup_tree.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_isolation_test {

using testing::AnyOf;
using testing::HasSubstr;

class ContainerIsolationTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    containers_.emplace(optionsIn(folder_.path()));
  }
  Containers& containers() { return *containers_; }
  const std::string& folder() const { return folder_.path(); }

  // What the script wrote, as this user.
  std::string outputOf(const std::string& text, const std::string& user = "nobody") {
    LaunchSpec spec = script(++last_, text);
    spec.user = user;
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(last_) + containers().err(last_);
  }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

// Prints the error number of a system call, 0 where it succeeds.
std::string tryCall(const std::string& number, const std::string& arguments) {
  return "perl -e 'my $p = \"/\"; $! = 0; my $r = syscall(" + number + ", " + arguments +
         "); print $r < 0 ? $! + 0 : 0, \"\\n\"'; ";
}

#if defined(__x86_64__)
TEST_F(ContainerIsolationTest, SystemCallsOutsideOfWhatProgramsNeedAreRefused) {
  // Each of these would succeed, or fail with another error, for a user without any privilege.
  EXPECT_EQ(outputOf(tryCall("272", "0x10000000") +             // unshare(CLONE_NEWUSER)
                     tryCall("56", "0x10000011, 0, 0, 0, 0") +  // clone(CLONE_NEWUSER | SIGCHLD)
                     tryCall("250", "0, -3, 1") +               // keyctl(KEYCTL_GET_KEYRING_ID)
                     tryCall("428", "-100, $p, 0") +            // open_tree
                     tryCall("298", "0, 0, -1, -1, 0") +        // perf_event_open
                     tryCall("303", "-100, $p, 0, 0, 0")),      // name_to_handle_at
            "1\n1\n1\n1\n1\n1\n");
  EXPECT_EQ(outputOf(tryCall("469", "-100, $p, 0, 0, 0") +  // file_setattr
                     tryCall("16", "-1, 0x401c5820, 0") +   // ioctl(FS_IOC_FSSETXATTR)
                     tryCall("16", "-1, 0x7401c5820, 0") +  // the same to the kernel
                     tryCall("16", "-1, 0x40086602, 0")),   // ioctl(FS_IOC_SETFLAGS)
            "1\n1\n1\n1\n");
  EXPECT_EQ(outputOf(tryCall("425", "1, 0") +      // io_uring_setup
                     tryCall("435", "0, 0") +      // clone3
                     tryCall("0x40000027", "0")),  // getpid of x32
            "38\n38\n38\n");
}

// Also as programs for other ways to call the same kernel do.
TEST_F(ContainerIsolationTest, SystemCallsThatAreNotOnTheListAreNotThere) {
  EXPECT_EQ(outputOf(tryCall("457", "0, 0, 0, 0") +      // statmount
                     tryCall("1000", "0") +              // of no kernel yet
                     tryCall("180", "0, 0, 0") +         // nfsservctl, which kernels have no more
                     tryCall("0x40000001", "1, 0, 0")),  // write of x32
            "38\n38\n1\n38\n");
  // getpid as 32-bit programs call it: it would answer a number above 0. Some kernels have no such way.
  const std::string probe =
      "printf '#include <stdio.h>\\nint main() { long r = 20; __asm__ volatile(\"int $0x80\" : "
      "\"+a\"(r)); printf(\"%%d\\\\n\", (int)r); }' > t.c && gcc -o t t.c && ./t";
  const std::string answer = outputOf(probe);
  EXPECT_THAT(answer, AnyOf("-38\n", HasSubstr("gcc: not found"), HasSubstr("Segmentation fault")));
}

TEST_F(ContainerIsolationTest, SocketsAreOfTheFamiliesThatProgramsNeed) {
  const auto socketOf = [](int family, int protocol) {
    return tryCall("41", std::to_string(family) + ", 3, " + std::to_string(protocol));  // SOCK_RAW
  };
  const auto streamOf = [](int family) { return tryCall("41", std::to_string(family) + ", 1, 0"); };
  EXPECT_EQ(outputOf(streamOf(1) + streamOf(2) + streamOf(10) + socketOf(16, 0)), "0\n0\n0\n0\n");
  // Packets of an interface, the kernel's ciphers, virtual machines, and of netlink the audit and other
  // devices.
  EXPECT_EQ(outputOf(socketOf(17, 0) + streamOf(38) + streamOf(40) + socketOf(16, 9) + socketOf(16, 15)),
            "97\n97\n97\n97\n97\n");
  // The kernel looks at the lower half alone.
  EXPECT_EQ(outputOf(tryCall("41", "0x100000026, 1, 0") + tryCall("53", "2, 1, 0, 0")), "97\n97\n");
}

TEST_F(ContainerIsolationTest, PersonalitiesAreThoseOfOrdinaryPrograms) {
  EXPECT_EQ(
      outputOf(tryCall("135", "0xffffffff") + tryCall("135", "0x0040000") + tryCall("135", "0x0400000")),
      "0\n0\n1\n");
}

TEST_F(ContainerIsolationTest, SystemCallsThatProgramsNeedAreNot) {
  EXPECT_EQ(outputOf(tryCall("272", "0x400") + tryCall("16", "-1, 0x801c581f, 0") +  // FS_IOC_FSGETXATTR
                     "grep Seccomp: /proc/self/status; sh -c 'echo child'"),
            "0\n9\nSeccomp:\t2\nchild\n");
}
#endif

TEST_F(ContainerIsolationTest, RootWithoutCapabilitiesCannotSetUpTheMachine) {
  const std::string group = "/sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs";
  const std::string out = outputOf(
      "mount -t tmpfs none /mnt 2>/dev/null; echo mount $?; "
      "umount /proc 2>/dev/null; echo umount $?; "
      "for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger " +
          group +
          "; do [ -e $file ] || continue; ( : >> $file ) 2>/dev/null && echo opened $file; done; "
          "chroot / true 2>/dev/null; echo chroot $?; "
          "hostname other 2>/dev/null; echo hostname $?; for link in root cwd exe fd/6; do readlink "
          "/proc/1/$link; done; "
          "head -c1 /proc/1/mem 2>/dev/null; echo init $?",
      "root");
  EXPECT_EQ(out, "mount 32\numount 32\nchroot 125\nhostname 1\ninit 1\n");
}

TEST_F(ContainerIsolationTest, EachTaskHasATemporaryFolderOfItsOwn) {
  const std::string mine = "/tmp/tarcil-isolation-" + std::to_string(::getpid());
  const std::string theirs = mine + "-of-the-task";
  std::ofstream(mine) << "of the host";
  EXPECT_EQ(outputOf("ls -A /tmp; echo x > " + theirs + "; stat -c %a /tmp; echo $TMPDIR"),
            "1777\n/run/tarcil/work\n");
  EXPECT_EQ(outputOf("ls -A /tmp"), "");
  EXPECT_FALSE(std::filesystem::exists(theirs));
  ::unlink(mine.c_str());
  containers().executor().forget(1);
  EXPECT_FALSE(std::filesystem::exists(containers().folder() + "/done/1" + theirs));
}

TEST_F(ContainerIsolationTest, AFolderOfTheHostBelowTmpIsNotThere) {
  LaunchSpec spec = script(100, "true");
  spec.workdir = "/tmp/tarcil-no-such";
  EXPECT_THAT(containers().run(spec).problem,
              HasSubstr("cannot enter the working directory '/tmp/tarcil-no-such'"));
}

TEST_F(ContainerIsolationTest, ItGoesBeforeNobody) {
  EXPECT_EQ(outputOf("grep -E 'Max (nice|realtime) priority' /proc/self/limits | tr -s ' '; "
                     "nice -n -5 sh -c 'cut -d\" \" -f19 /proc/self/stat' 2>/dev/null",
                     "root"),
            "Max nice priority 0 0 \nMax realtime priority 0 0 \n0\n");
}

TEST_F(ContainerIsolationTest, NamesOfTheMachineAreTheTasksOwn) {
  EXPECT_NE(outputOf("readlink /proc/self/ns/uts"),
            std::filesystem::read_symlink("/proc/self/ns/uts").string() + "\n");
  EXPECT_EQ(outputOf("ls -A /dev/shm; [ ! -d /dev/mqueue ] || ls -A /dev/mqueue"), "");
}

// A name that would end the field of a name in /proc, were it read without care.
TEST_F(ContainerIsolationTest, ATaskThatRenamesItselfIsKnownAllTheSame) {
  containers().start(script(1,
                            "printf ') Z 1 1 (' > /proc/self/comm; setsid sh -c \"printf 'systemd\\n9' > "
                            "/proc/self/comm; sleep 1000\" & cat /proc/self/comm /proc/$$/comm; sleep 1000"));
  containers().untilStarted(1);
  containers().untilOutput(1, ") Z 1 1 (");
  EXPECT_EQ(containers().executor().running().size(), 1u);
  containers().executor().signal(1, SIGKILL);
  EXPECT_EQ(containers().endOf(1).signal, SIGKILL);
  const CgroupTree tree({}, {"tarcil-" + optionsIn("").tag, "s1"});
  EXPECT_TRUE(tree.tasks().empty()) << "nothing of it is left";
}

// By its pid in the host's namespace a task can be moved only by who sees that pid.
TEST_F(ContainerIsolationTest, ATaskCannotLeaveItsCgroups) {
  const std::string before = outputOf("cat /proc/self/cgroup");
  const std::string after = outputOf(
      "for file in /sys/fs/cgroup/*/tasks /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do "
      "[ -e $file ] && ( echo $$ > $file ) 2>/dev/null; done; cat /proc/self/cgroup",
      "root");
  EXPECT_THAT(after, HasSubstr("/2\n"));  // groups are named by the allocation
  EXPECT_EQ(std::count(before.begin(), before.end(), '/'), std::count(after.begin(), after.end(), '/'));
}

}  // namespace tarcil::container_isolation_test
