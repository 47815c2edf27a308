// The meter on trees of files that are made here, and on the machine itself.
#include "monitor/pressure/meter.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "monitor/container/cgroup_tree.h"
#include "tests/monitor/pressure/fake_machine.h"

namespace tarcil::meter_test {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

constexpr MonotonicTime kStart{};

double at(const PressureMeter& meter, Resource resource) {
  return meter.background()[static_cast<size_t>(resource)].value_or(-1);
}

std::string reasonFor(const ServerPressure& pressure, Resource resource) {
  for (const AbsentPressure& absent : pressure.absent) {
    if (absent.resource == resource) return absent.reason;
  }
  return "";
}

TEST(PressureMeter, MeasuresByDifferencesOfTwoReadings) {
  FakeMachine machine;
  PressureMeter meter = machine.meter();
  EXPECT_FALSE(meter.measure({}, kStart));
  machine.write("proc/stat", "cpu0 60 0 0 40 0 0 0 0 0 0\n");
  machine.write("cgroup/cpu.stat", "usage_usec 100000\n");
  machine.write("proc/diskstats", "8 0 sda 0 0 1000 0 0 0 0 0 0 250 0\n");
  const auto message = meter.measure({}, kStart + 1s);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->server, "s1");
  EXPECT_DOUBLE_EQ(at(meter, Resource::kCore), 99 * 0.5);
  EXPECT_DOUBLE_EQ(at(meter, Resource::kMemoryCapacity), 99 * 0.25);
  EXPECT_DOUBLE_EQ(at(meter, Resource::kDiskBandwidth), 99 * 0.25);
}

TEST(PressureMeter, SaysWhatIsAbsentAndWhy) {
  FakeMachine machine;
  PressureMeter meter = machine.meter();
  meter.measure({}, kStart);
  machine.write("proc/stat", "cpu0 0 0 0 100 0 0 0 0 0 0\n");
  const auto message = meter.measure({}, kStart + 1s);
  ASSERT_TRUE(message);
  EXPECT_THAT(reasonFor(*message, Resource::kL1d), HasSubstr("hardware counters"));
  EXPECT_THAT(reasonFor(*message, Resource::kLlc), HasSubstr("resctrl"));
  EXPECT_THAT(reasonFor(*message, Resource::kNetworkBandwidth), HasSubstr("BPF"));
  EXPECT_EQ(reasonFor(*message, Resource::kCore), "");
}

TEST(PressureMeter, GoesOnWhereAFileIsBrokenAndTakesItUpAgainWhenItIsWhole) {
  FakeMachine machine;
  PressureMeter meter = machine.meter();
  meter.measure({}, kStart);
  machine.write("proc/stat", "cpu0 nonsense\n");
  const auto broken = meter.measure({}, kStart + 3s);
  EXPECT_EQ(reasonFor(*broken, Resource::kCore),
            machine.at("proc/stat") + ":1: not a core and eight numbers");
  EXPECT_EQ(at(meter, Resource::kMemoryCapacity), 99 * 0.25);
  machine.write("proc/stat", "cpu0 0 0 0 100 0 0 0 0 0 0\n");
  meter.measure({}, kStart + 6s);
  machine.write("proc/stat", "cpu0 100 0 0 100 0 0 0 0 0 0\n");
  meter.measure({}, kStart + 9s);
  EXPECT_EQ(at(meter, Resource::kCore), 99);
}

TEST(PressureMeter, GoesOnWhereAFileIsMissingAndFindsItWhenItIsThere) {
  FakeMachine machine;
  machine.remove("proc/diskstats");
  PressureMeter meter = machine.meter();
  meter.measure({}, kStart);
  const auto message = meter.measure({}, kStart + 1s);
  EXPECT_THAT(reasonFor(*message, Resource::kDiskBandwidth), HasSubstr("proc/diskstats: No such file"));
  machine.write("proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
  meter.measure({}, kStart + 2s);
  meter.measure({}, kStart + 3s);
  EXPECT_EQ(at(meter, Resource::kDiskBandwidth), 0);
}

TEST(PressureMeter, MachineWithoutDisksAndInterfacesHasNoPressureOnThem) {
  FakeMachine machine;
  for (const char* file : {"sys/block/sda/device/x", "sys/class/net/eth0/device/x"}) machine.remove(file);
  for (const char* folder : {"sys/block/sda/device", "sys/class/net/eth0/device"}) machine.remove(folder);
  PressureMeter meter = machine.meter();
  meter.measure({}, kStart);
  const auto message = meter.measure({}, kStart + 1s);
  EXPECT_THAT(reasonFor(*message, Resource::kDiskBandwidth), HasSubstr("no physical disk"));
  EXPECT_THAT(reasonFor(*message, Resource::kNetworkBandwidth), HasSubstr("no physical network interface"));
}

TEST(PressureMeter, TellsWhatATaskCausesBesideTheBackground) {
  FakeMachine machine;
  machine.write("cgroup/task/cpu.stat", "usage_usec 0\n");
  machine.write("cgroup/task/memory.current", "100000\n");
  machine.write("cgroup/task/memory.stat",
                "inactive_file 0\nactive_file 0\nfile_dirty 0\nfile_writeback 0\npgfault 0\npgmajfault 0\n");
  RunningTask task{.allocation = 7, .job = {}, .goal = {}, .cores = {}, .cgroups = {}};
  task.cgroups.unified = machine.at("cgroup/task");
  PressureMeter meter = machine.meter();
  std::optional<ServerPressure> latest;
  for (int second = 0; second <= 10; ++second) {
    const auto at = std::to_string(100 * second);
    machine.write("proc/stat", "cpu0 " + at + " 0 0 " + at + " 0 0 0 0 0 0\n");
    machine.write("cgroup/cpu.stat", "usage_usec " + std::to_string(500'000 * second) + "\n");
    machine.write("cgroup/task/cpu.stat", "usage_usec " + std::to_string(500'000 * second) + "\n");
    if (auto message = meter.measure({task}, kStart + second * 1s)) latest = std::move(message);
  }
  ASSERT_TRUE(latest);
  ASSERT_EQ(latest->tasks.size(), 1u);
  const TaskPressure& told = latest->tasks[0];
  EXPECT_EQ(told.allocation, 7u);
  EXPECT_EQ(told.caused[static_cast<size_t>(Resource::kCore)], 25) << "half of the half that is busy";
  EXPECT_EQ(told.caused[static_cast<size_t>(Resource::kMemoryCapacity)], 10) << "100 kB of 1000";
  EXPECT_FALSE(told.measured[static_cast<size_t>(Resource::kLlc)]);
  EXPECT_EQ(latest->background[static_cast<size_t>(Resource::kCore)], 25);
}

TEST(PressureMeter, UnmeasuredServersHaveEverythingAbsent) {
  const ServerPressure pressure = unmeasured("s1", "off");
  EXPECT_EQ(pressure.absent.size(), size_t{kResources});
  EXPECT_THAT(pressure.absent, testing::Each(Field(&AbsentPressure::reason, "off")));
  EXPECT_EQ(pressure.background, Pressure{});
}

TEST(KeptFile, ReadsFilesThatAreLongerThanItsBufferAndSeesChanges) {
  FakeMachine machine;
  machine.write("long", std::string(10'000, 'x'));
  KeptFile file(machine.at("long"));
  EXPECT_EQ(file.read()->size(), 10'000u);
  machine.write("long", "short");
  EXPECT_EQ(*file.read(), "short");
  machine.write("long", std::string(2 << 20, 'x'));
  EXPECT_THAT(file.read().error().message, HasSubstr("longer than any such file"));
}

TEST(LastLevelCache, CountsEachDomainOfTheHighestLevelOnce) {
  FakeMachine machine;
  for (int core = 0; core < 4; ++core) {
    const std::string caches = "sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/";
    const std::string domain = core < 2 ? "0-1" : "2-3";
    machine.write(caches + "index0/level", "1\n");
    machine.write(caches + "index0/size", "48K\n");
    machine.write(caches + "index0/shared_cpu_list", std::to_string(core) + "\n");
    machine.write(caches + "index3/level", "3\n");
    machine.write(caches + "index3/size", "1024K\n");
    machine.write(caches + "index3/shared_cpu_list", domain + "\n");
  }
  EXPECT_EQ(lastLevelCacheBytes(machine.at("sys")), 2u << 20);
}

// A cgroup of this machine's version 2, where it has one that we may use.
class UnifiedGroup {
 public:
  UnifiedGroup() : tree_({}, {"tarcil-pressure-test-" + std::to_string(::getpid()), "s1"}) {}
  ~UnifiedGroup() { tree_.removeUnused(); }
  std::string path() const { return tree_.counted().unified; }

 private:
  CgroupTree tree_;
};

// Sends a datagram of so many bytes to itself over loopback.
void sendToItself(size_t bytes) {
  const int receiver = ::socket(AF_INET, SOCK_DGRAM, 0), sender = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const auto* general = reinterpret_cast<sockaddr*>(&address);
  if (::bind(receiver, general, size) != 0) ::_exit(1);
  ::getsockname(receiver, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string text(bytes, 'x');
  std::string buffer(bytes, 0);
  const bool sent = ::sendto(sender, text.data(), bytes, 0, general, size) == static_cast<ssize_t>(bytes);
  const bool received = ::recv(receiver, buffer.data(), bytes, 0) == static_cast<ssize_t>(bytes);
  ::_exit(sent && received ? 0 : 1);
}

TEST(TrafficCounter, CountsWhatTheCgroupSendsAndReceivesAndNothingElse) {
  const UnifiedGroup group;
  if (group.path().empty()) GTEST_SKIP() << "needs root and cgroup v2";
  auto counter = TrafficCounter::open(group.path(), {1});
  if (!counter.ok()) GTEST_SKIP() << counter.error().message;
  for (const bool inside : {true, false}) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (inside) std::ofstream(group.path() + "/cgroup.procs") << "0" << std::flush;
      sendToItself(1000);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
  }
  constexpr uint64_t kHeaders = 28;  // of IP and UDP
  EXPECT_EQ(*counter->read(), (TransferBytes{1000 + kHeaders, 1000 + kHeaders}));
}

TEST(TrafficCounter, SaysWhyItCannotCount) {
  EXPECT_THAT(TrafficCounter::open("", {1}).error().message, HasSubstr("no cgroup v2"));
  EXPECT_THAT(TrafficCounter::open("/proc", {1}).error().message, HasSubstr("BPF"));
}

}  // namespace tarcil::meter_test
