// Tasks on a root file system of their own.
#include <gmock/gmock.h>

#include "monitor/container/root_policy.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"

namespace tarcil::container_root_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ContainerRootTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    makeRootImage(root(), {"sh", "cat", "ls", "stat", "head", "chmod", "mkdir"});
    std::ofstream(root() + "/etc/marker") << "image\n";
    ContainerOptions options = optionsIn(folder_.path());
    options.allowedRoots = {folder_.path() + "/images"};
    containers_.emplace(std::move(options));
  }
  std::string root() const { return folder_.path() + "/images/small"; }
  std::string at(const std::string& path) const { return folder_.path() + path; }
  Containers& containers() { return *containers_; }

  LaunchSpec rooted(const std::string& text) {
    LaunchSpec spec = script(++last_, text);
    spec.container.rootfs = root();
    return spec;
  }
  std::string outputOf(const LaunchSpec& spec, const std::vector<InputFile>& files = {}) {
    const TaskEnd end = containers().run(spec, files);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(spec.allocation) + containers().err(spec.allocation);
  }
  std::string problemOf(const LaunchSpec& spec) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kNeverStarted);
    EXPECT_FALSE(serversFault(end)) << end.problem;
    return end.problem;
  }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

TEST_F(ContainerRootTest, TheTaskSeesItsFilesAndNothingOfTheHost) {
  EXPECT_EQ(outputOf(rooted("ls /var /home /root 2>/dev/null; echo $?; cat /etc/marker; ls /etc")),
            "2\nimage\nmarker\n");
  EXPECT_EQ(outputOf(rooted("cd /..; ls etc; ls /proc/self/root/etc; ls /var/tmp 2>/dev/null; echo $?")),
            "marker\nmarker\n2\n");
  // What it has mounted, and not the host's disks under it.
  EXPECT_THAT(outputOf(rooted("cat /proc/mounts")), testing::Not(HasSubstr("/sys/fs/cgroup")));
}

TEST_F(ContainerRootTest, NothingOfItCanBeChanged) {
  LaunchSpec spec = rooted("echo x > /new; chmod 777 /etc; mkdir /dev/x; echo x > /run/x; echo done");
  spec.user = "root";
  const std::string out = outputOf(spec);
  EXPECT_THAT(out, HasSubstr("/new: Read-only file system"));
  EXPECT_THAT(out, HasSubstr("'/etc': Read-only file system"));
  EXPECT_FALSE(fs::exists(root() + "/new"));
}

TEST_F(ContainerRootTest, ItHasWhatEveryProgramExpects) {
  EXPECT_EQ(outputOf(rooted("pwd; cat input; echo y > made; echo t > /tmp/t; cat made /tmp/t; "
                            "stat -c '%a %F' /dev/null /tmp; head -c 3 /dev/zero | stat -L -c %F /dev/stdin; "
                            "echo $$; [ -d /sys/devices ] && echo sys"),
                     {{"input", 0644, "shipped\n"}}),
            "/run/tarcil/work\nshipped\ny\nt\n666 character special file\n1777 directory\nfifo\n2\nsys\n");
}

TEST_F(ContainerRootTest, TheWorkingDirectoryIsOneInIt) {
  fs::create_directories(root() + "/srv/data");
  LaunchSpec inside = rooted("pwd");
  inside.workdir = "/srv/data";
  EXPECT_EQ(outputOf(inside), "/srv/data\n");
  LaunchSpec outside = rooted("pwd");
  outside.workdir = "/var/log";
  EXPECT_THAT(problemOf(outside), HasSubstr("cannot enter the working directory '/var/log'"));
}

TEST_F(ContainerRootTest, AProgramThatItDoesNotHaveIsNamed) {
  LaunchSpec spec = rooted("");
  spec.command = {"perl", "-v"};
  EXPECT_THAT(problemOf(spec), HasSubstr("cannot execute 'perl': No such file or directory"));
}

TEST_F(ContainerRootTest, SymbolicLinksInItLeadIntoItself) {
  fs::create_directories(at("/outside"));
  ::chmod(at("/outside").c_str(), 0777);
  for (const char* name : {"/tmp", "/run"}) {
    fs::remove(root() + name);
    fs::create_directory_symlink(at("/outside"), root() + name);
  }
  EXPECT_THAT(problemOf(rooted("echo x > /tmp/x")),
              HasSubstr("which must have the empty folders proc, sys, dev"));
  EXPECT_TRUE(fs::is_empty(at("/outside")));
}

TEST_F(ContainerRootTest, AFolderThatIsMissingInItIsNamed) {
  fs::remove(root() + "/proc");
  EXPECT_THAT(problemOf(rooted("true")), HasSubstr("cannot mount '/proc': No such file or directory"));
}

TEST_F(ContainerRootTest, OnlyFoldersThatTheOperatorAllowsAreUsed) {
  fs::create_directories(at("/other"));
  fs::create_directory_symlink(at("/other"), at("/images/link"));
  std::ofstream(at("/images/file")) << "x";
  for (const char* path : {"/other", "/images/link", "/images/../other", "/images-not"}) {
    fs::create_directories(at("/images-not"));
    LaunchSpec spec = rooted("true");
    spec.container.rootfs = at(path);
    EXPECT_THAT(problemOf(spec),
                HasSubstr("may not be used by tasks on this server: its operator allows folders"))
        << path;
  }
  LaunchSpec spec = rooted("true");
  spec.container.rootfs = at("/images/none");
  EXPECT_THAT(problemOf(spec), HasSubstr("cannot be found on this server"));
  spec = rooted("true");
  spec.container.rootfs = "images/small";
  EXPECT_THAT(problemOf(spec), HasSubstr("is no absolute path"));
  spec = rooted("true");
  spec.container.rootfs = at("/images/file");
  EXPECT_THAT(problemOf(spec), HasSubstr("is no folder"));
}

TEST(RootPolicy, AllowsNothingByItself) {
  EXPECT_EQ(allowedRoot("/usr", {}).error().code, ErrorCode::kDenied);
  EXPECT_EQ(allowedRoot("/usr", {"/usr"}).value(), "/usr");
  EXPECT_EQ(allowedRoot("/usr/bin/../bin", {"/no-such", "/usr"}).value(), "/usr/bin");
}

}  // namespace tarcil::container_root_test
