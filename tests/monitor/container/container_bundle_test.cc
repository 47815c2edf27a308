// Tasks in OCI bundles, run by crun where it is installed.
#include <gmock/gmock.h>

#include "monitor/container/found_program.h"
#include "monitor/container/oci_bundle.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"

namespace tarcil::container_bundle_test {

using testing::HasSubstr;

class ContainerBundleTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    makeRootImage(bundle() + "/rootfs", {"sh", "cat", "ls", "sleep", "mount", "grep", "id"});
    configure(
        R"({"ociVersion": "1.0.0", "root": {"path": "rootfs"}, "process": {"env": ["FROM=bundle", "BOTH=bundle"]},
                 "hooks": {"prestart": [{"path": "/bin/touch", "args": ["touch", ")" +
        at("/hooked") + R"("]}]}})");
    options_ = optionsIn(folder_.path());
    options_.allowedRoots = {at("/images")};
    options_.crun = findProgram("crun");
  }
  std::string at(const std::string& path) const { return folder_.path() + path; }
  std::string bundle() const { return at("/images/bundle"); }
  void configure(const std::string& config) { std::ofstream(bundle() + "/config.json") << config; }
  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  bool noCrun() const { return options_.crun.empty(); }

  LaunchSpec bundled(AllocationId allocation, const std::string& text) {
    LaunchSpec spec = script(allocation, text);
    spec.container.bundle = bundle();
    return spec;
  }
  std::string problemOf(const LaunchSpec& spec) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kNeverStarted);
    EXPECT_FALSE(serversFault(end)) << end.problem;
    return end.problem;
  }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

TEST_F(ContainerBundleTest, RunsTheJobsCommandInTheBundlesFiles) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  LaunchSpec spec = bundled(
      1, "pwd; cat input; ls -d /var; echo $FROM $BOTH $TARCIL_TASK; echo x > /tmp/x && echo tmp; exit 7");
  spec.env = {{"BOTH", "job"}};
  const TaskEnd end = containers().run(spec, {{"input", 0644, "shipped\n"}});
  EXPECT_EQ(end.exitCode, 7) << end.problem << containers().err(1);
  EXPECT_EQ(containers().out(1), "/run/tarcil/work\nshipped\nbundle job 0\ntmp\n");
}

TEST_F(ContainerBundleTest, GivesTheTaskNoMoreRightsThanAnyOther) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  containers().run(bundled(1,
                           "id -u; grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status; "
                           "mount -t tmpfs none /tmp 2>/dev/null; echo $?; ls /proc/1/fd; echo x > /etc/x"));
  const std::string out = containers().out(1);
  for (const char* line : {"65534\n", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000",
                           "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"})
    EXPECT_THAT(out, HasSubstr(line));
  EXPECT_THAT(out, testing::Not(HasSubstr("\n0\n"))) << "mounted";
  EXPECT_THAT(containers().err(1), HasSubstr("Read-only file system"));
  EXPECT_FALSE(std::filesystem::exists(at("/hooked"))) << "a bundle's hook was carried out as root";
}

// It runs as root on the server: so would a library that the job names.
TEST_F(ContainerBundleTest, WhatMakesTheContainerHasAnEnvironmentThatTheJobDoesNotSay) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  LaunchSpec spec = bundled(1, "echo $LD_PRELOAD");
  // Says at the end of a program what memory it had; it is on the server and not in the bundle.
  spec.env = {{"LD_PRELOAD", "libmemusage.so"}};
  EXPECT_EQ(containers().run(spec).exitCode, 0);
  EXPECT_EQ(containers().out(1), "libmemusage.so\n");
  EXPECT_THAT(containers().err(1), HasSubstr("'libmemusage.so' from LD_PRELOAD cannot be preloaded"));
  EXPECT_THAT(containers().err(1), testing::Not(HasSubstr("Memory usage summary")));
}

// Of all users but the last, each as itself: files belong to whom they belong to.
TEST_F(ContainerBundleTest, IsMadeByARootWhoIsNoneOnTheServer) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  const auto& missing = containers().executor().missing();
  if (std::find(missing.begin(), missing.end(), "user-namespaces") != missing.end())
    GTEST_SKIP() << "no user namespaces";
  containers().run(bundled(1,
                           "read first at count < /proc/self/uid_map; echo $first $at $count; "
                           "read first at count < /proc/self/gid_map; echo $first $at $count; id -u"));
  EXPECT_EQ(containers().out(1), "0 0 4294967294\n0 0 4294967294\n65534\n");
}

TEST_F(ContainerBundleTest, HasTheSystemCallsOfAnyOther) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  makeRootImage(bundle() + "/rootfs", {"sh", "unshare"});
  containers().run(bundled(1, "unshare --user true; echo $?; grep Seccomp: /proc/self/status"));
  EXPECT_THAT(containers().err(1), HasSubstr("Operation not permitted"));
}

TEST_F(ContainerBundleTest, IsSignalledAndKilledLikeAnyOther) {
  if (noCrun()) GTEST_SKIP() << "no crun";
  containers().start(bundled(1, "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
  containers().untilOutput(1, "ready");
  containers().executor().signal(1, SIGTERM);
  EXPECT_EQ(containers().endOf(1).exitCode, 5);
  containers().start(bundled(2, "trap '' TERM; echo ready; sleep 1000"));
  containers().untilOutput(2, "ready");
  containers().executor().signal(2, SIGKILL);
  EXPECT_EQ(containers().endOf(2).signal, SIGKILL);
}

TEST_F(ContainerBundleTest, IsRefusedWithoutCrun) {
  options_.crun.clear();
  EXPECT_THAT(problemOf(bundled(1, "true")),
              HasSubstr("container.bundle takes crun, which this server does not have"));
}

TEST_F(ContainerBundleTest, IsHeldToTheFoldersThatTheOperatorAllows) {
  options_.crun = "/bin/false";
  configure(R"({"root": {"path": "../../elsewhere"}})");
  std::filesystem::create_directories(at("/elsewhere"));
  EXPECT_THAT(problemOf(bundled(1, "true")), HasSubstr("may not be used by tasks on this server"));
  configure("{");
  EXPECT_THAT(problemOf(bundled(2, "true")), HasSubstr("config.json: is not JSON"));
  LaunchSpec outside = bundled(3, "true");
  outside.container.bundle = at("/elsewhere");
  EXPECT_THAT(problemOf(outside), HasSubstr("may not be used by tasks on this server"));
}

}  // namespace tarcil::container_bundle_test
