// Devices of extras, as tasks find them. What stands for them opens on every machine: the devices of
// /dev/null and its like, under other names.
#include <gmock/gmock.h>

#include "monitor/container/device_nodes.h"
#include "monitor/container/found_program.h"
#include "monitor/container/oci_bundle.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"
#include "tests/support/device_folder.h"

namespace tarcil::container_device_test {

using testing::HasSubstr;

constexpr const char* kDenied = "Operation not permitted";

class ContainerDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    if (parseCgroupMounts(textOf("/proc/self/mounts")).v2.empty()) GTEST_SKIP() << "no cgroup version 2";
    nodes_.add("gpu0", 1, 3);
    nodes_.add("gpu1", 1, 5);
    nodes_.add("control", 1, 7);
    if (!nodes_.isMade()) GTEST_SKIP() << "no device nodes can be made here";
    ::chmod(folder_.path().c_str(), 0755);
    options_ = optionsIn(folder_.path());
    options_.hostView = true;  // where nodes of all devices are seen
    useDevices({"gpus=" + at("gpu{n}"), "gpus=" + at("control")});
  }

  void useDevices(const std::vector<std::string>& arguments) {
    const auto devices = findExtraDevices(arguments, {{"gpus", 2}});
    ASSERT_TRUE(devices) << devices.error().message;
    options_.extraDevices = *devices;
  }
  std::string at(const std::string& name) const { return nodes_.at(name); }
  DeviceFolder& nodes() { return nodes_; }
  const std::string& folder() const { return folder_.path(); }
  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  // The monitor is gone, and the next one has these options.
  RecoveredTask recovered() {
    containers_.reset();
    const auto tasks = containers().executor().recover();
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? RecoveredTask{} : tasks[0];
  }

  // Shell that prints what became of opening each: "NAME opens", or the shell's problem with it.
  std::string tryToOpen(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) text += "(: < " + at(name) + ") 2>&1 && echo " + name + " opens; ";
    return text;
  }
  LaunchSpec trial(const std::vector<std::string>& names, const ExtraNumbers& held) {
    LaunchSpec spec = script(++last_, tryToOpen(names));
    spec.extras = held;
    return spec;
  }
  std::string outputOf(const LaunchSpec& spec) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(spec.allocation) + containers().err(spec.allocation);
  }
  std::string denied(const std::string& name) const {
    return "sh: 1: cannot open " + at(name) + ": " + kDenied + "\n";
  }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  DeviceFolder nodes_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

TEST_F(ContainerDeviceTest, OfItsExtrasOpenAndNoOther) {
  const std::vector<std::string> all = {"gpu0", "gpu1", "control"};
  EXPECT_EQ(outputOf(trial(all, {{"gpus", {0}}})), "gpu0 opens\n" + denied("gpu1") + "control opens\n");
  EXPECT_EQ(outputOf(trial(all, {{"gpus", {1}}})), denied("gpu0") + "gpu1 opens\ncontrol opens\n");
  EXPECT_EQ(outputOf(trial(all, {{"gpus", {0, 1}}})), "gpu0 opens\ngpu1 opens\ncontrol opens\n");
  EXPECT_EQ(outputOf(trial(all, {})), denied("gpu0") + denied("gpu1") + denied("control"));
}

TEST_F(ContainerDeviceTest, OpenUnderNoOtherNameAndForNoUserWhateverTheEnvironmentSays) {
  nodes().add("fresh", 1, 5);
  LaunchSpec spec = trial({"gpu1", "fresh", "gpu0"}, {{"gpus", {0}}});
  spec.user = "root";
  spec.env = {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"NVIDIA_VISIBLE_DEVICES", "all"}};
  EXPECT_EQ(outputOf(spec), denied("gpu1") + denied("fresh") + "gpu0 opens\n");
  EXPECT_EQ(outputOf(trial({"../zero", "../urandom"}, {{"gpus", {0}}})),
            denied("../zero") + "../urandom opens\n");
}

TEST_F(ContainerDeviceTest, AreClosedBeforeAnythingOfTheTaskRuns) {
  // Even what sets the task up is born in the cgroup.
  LaunchSpec spec = trial({}, {{"gpus", {0}}});
  spec.command = {"sh", "-c", "grep ^0:: /proc/1/cgroup /proc/self/cgroup; (: < " + at("gpu1") + ") 2>&1"};
  EXPECT_EQ(outputOf(spec), "/proc/1/cgroup:0::/tarcil-" + options_.tag + "/s1/" +
                                std::to_string(spec.allocation) + "\n/proc/self/cgroup:0::/tarcil-" +
                                options_.tag + "/s1/" + std::to_string(spec.allocation) + "\n" +
                                denied("gpu1"));
}

TEST_F(ContainerDeviceTest, StayClosedWhenTheMonitorIsStartedAgain) {
  LaunchSpec spec = trial({"gpu0", "gpu1", "control"}, {{"gpus", {0}}});
  spec.command.back() =
      "echo ready; while [ ! -e " + folder() + "/go ]; do sleep 0.01; done; " + spec.command.back();
  containers().start(spec);
  containers().untilOutput(spec.allocation, "ready");
  EXPECT_EQ(recovered().state, RecoveredTask::State::kRunning);
  std::ofstream(folder() + "/go") << "\n";
  containers().endOf(spec.allocation);
  EXPECT_EQ(containers().out(spec.allocation), "ready\ngpu0 opens\n" + denied("gpu1") + "control opens\n");
}

TEST_F(ContainerDeviceTest, AreClosedToATaskThatRunsWhenTheMonitorHearsOfThem) {
  const auto devices = std::exchange(options_.extraDevices, {});
  LaunchSpec spec = trial({"gpu0", "gpu1"}, {{"gpus", {0}}});
  spec.command.back() =
      tryToOpen({"gpu1"}) + "while [ ! -e " + folder() + "/go ]; do sleep 0.01; done; " + spec.command.back();
  containers().start(spec);
  containers().untilOutput(spec.allocation, "gpu1 opens");
  options_.extraDevices = devices;
  // As often as monitors are started again.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(recovered().state, RecoveredTask::State::kRunning);
  std::ofstream(folder() + "/go") << "\n";
  containers().endOf(spec.allocation);
  EXPECT_EQ(containers().out(spec.allocation), "gpu1 opens\ngpu0 opens\n" + denied("gpu1"));
}

TEST_F(ContainerDeviceTest, CanBeAsManyAsTheKernelIsTold) {
  for (size_t i = options_.extraDevices.size(); i < kMaxExtraDevices; ++i) {
    const auto number = static_cast<uint32_t>(i);
    options_.extraDevices.push_back({"gpus", 1, {at("none"), {false, 1'000 + number % 300, number}}});
  }
  EXPECT_EQ(outputOf(trial({"gpu0", "gpu1"}, {{"gpus", {0}}})), "gpu0 opens\n" + denied("gpu1"));
}

TEST_F(ContainerDeviceTest, AreInTheDevOfARootFileSystemAsOnTheHost) {
  makeRootImage(folder() + "/images/small", {"sh", "ls", "stat"});
  options_.allowedRoots = {folder() + "/images"};
  nodes().add("tty0", 5, 0);  // opens for nobody without a terminal
  nodes().add("tty1", 240, 7);
  ::chmod(at("tty0").c_str(), 0640);
  ASSERT_EQ(::chown(at("tty0").c_str(), 0, 65534), 0);
  useDevices({"gpus=" + at("tty{n}")});
  LaunchSpec spec = trial({"tty0", "tty1"}, {{"gpus", {0}}});
  spec.container.rootfs = folder() + "/images/small";
  spec.command.back() += "stat -c '%a %u %g %t:%T %F' " + at("tty0");
  EXPECT_EQ(outputOf(spec), "sh: 1: cannot open " + at("tty0") + ": No such device or address\n" +
                                "sh: 1: cannot open " + at("tty1") + ": No such file\n" +
                                "640 0 65534 5:0 character special file\n");
}

TEST_F(ContainerDeviceTest, AreInTheDevOfABundle) {
  options_.crun = findProgram("crun");
  if (options_.crun.empty()) GTEST_SKIP() << "no crun";
  const std::string bundle = folder() + "/images/bundle";
  makeRootImage(bundle + "/rootfs", {"sh", "ls"});
  std::ofstream(bundle + "/config.json") << R"({"ociVersion": "1.0.0", "root": {"path": "rootfs"}})";
  options_.allowedRoots = {folder() + "/images"};
  nodes().add("tty0", 5, 0);
  nodes().add("tty1", 240, 7);
  useDevices({"gpus=" + at("tty{n}")});
  LaunchSpec spec = trial({"tty0", "tty1"}, {{"gpus", {0}}});
  spec.container.bundle = bundle;
  EXPECT_EQ(outputOf(spec), "sh: 1: cannot open " + at("tty0") + ": No such device or address\n" +
                                "sh: 1: cannot open " + at("tty1") + ": No such file\n");
}

TEST_F(ContainerDeviceTest, AreNotLeftOpenWhereTheKernelCannotCloseThem) {
  std::ofstream(folder() + "/mounts") << "proc /proc proc rw 0 0\n";
  options_.system.mounts = folder() + "/mounts";
  try {
    containers();
    ADD_FAILURE() << "it runs tasks that can open every device";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot keep tasks from devices (--extra-device)"));
  }
  options_.extraDevices.clear();
  EXPECT_EQ(outputOf(trial({"gpu0"}, {})), "gpu0 opens\n");
}

}  // namespace tarcil::container_device_test
