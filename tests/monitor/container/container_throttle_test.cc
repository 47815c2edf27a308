// Running tasks that are throttled.
#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <kj/io.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "monitor/pressure/machine_reader.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_throttle_test {

using testing::AnyOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class ContainerThrottleTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    succeed();
  }

  // Another monitor, in place of the one that there was.
  void succeed() {
    containers_.reset();
    ContainerOptions options = optionsIn(folder_.path());
    for (const auto& [name, number] : physicalDisks("/sys")) options.disks.push_back(number);
    options.interfaces = {interfaceNamed("/sys", "lo")->index};
    containers_.emplace(options);
  }

  // Its word may come before the report of its start.
  void startReady(const LaunchSpec& spec) {
    containers().start(spec);
    containers().untilOutput(spec.allocation, "ready");
    containers().untilStarted(spec.allocation);
  }

  Containers& containers() { return *containers_; }
  ContainerExecutor& executor() { return containers().executor(); }

  // By its flags in /proc/PID/stat (proc(5)), or as it is gone.
  static bool isExiting(const std::string& process) {
    constexpr uint64_t kExiting = 0x4;
    const std::string stat = textOf("/proc/" + process + "/stat");
    const std::vector<std::string> words =
        parseWords(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    return words.size() < 7 || (std::stoull(words[6]) & kExiting) != 0;
  }

  // What the kernel says of each process of the task that runs.
  std::vector<std::string> quotas() {
    const CgroupMounts mounts = parseCgroupMounts(textOf("/proc/self/mounts"));
    const CgroupDirectories in = executor().running().front().cgroups;
    std::vector<std::string> found;
    for (const std::string& process :
         parseWords(textOf((in.unified.empty() ? in.memory : in.unified) + "/cgroup.procs"))) {
      if (!mounts.v1.contains(kCpu)) {
        // Where nothing is throttled the controller is taken off again, and its file is gone.
        const std::string quota = in.unified + "/cpu.max";
        found.push_back(std::filesystem::exists(quota) ? textOf(quota) : "max");
        continue;
      }
      std::istringstream lines(textOf("/proc/" + process + "/cgroup"));
      if (isExiting(process)) continue;  // it is in no cgroup any more
      for (std::string line; std::getline(lines, line);) {
        const size_t at = line.find(":cpu:");
        if (at != std::string::npos)
          found.push_back(textOf(mounts.v1.at(kCpu) + line.substr(at + 5) + "/cpu.cfs_quota_us"));
      }
    }
    return found;
  }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

// A shell with a child; ends at SIGTERM.
LaunchSpec twoProcesses(AllocationId allocation) {
  LaunchSpec spec = script(allocation,
                           "trap 'exit 0' TERM; sh -c 'while :; do sleep 0.01; done' & echo ready; "
                           "while :; do sleep 0.01; done");
  spec.rus = {0};
  return spec;
}

TEST_F(ContainerThrottleTest, AllItsProcessesHaveAQuotaUntilItIsThrottledNoMore) {
  startReady(twoProcesses(1));
  const Status throttled = executor().throttle(1, {.cpu = 0.25});
  if (!throttled.ok()) GTEST_SKIP() << throttled.error().message;
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(StartsWith("25000"))));
  ASSERT_TRUE(executor().throttle(1, {}).ok());
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(AnyOf(StartsWith("-1"), StartsWith("max")))));
  executor().signal(1, SIGTERM);
  EXPECT_TRUE(containers().endOf(1).succeeded());
}

TEST_F(ContainerThrottleTest, ASuccessorThrottlesNothing) {
  startReady(twoProcesses(1));
  if (const Status throttled = executor().throttle(1, {.cpu = 0.25}); !throttled.ok())
    GTEST_SKIP() << throttled.error().message;
  succeed();
  ASSERT_EQ(executor().recover().size(), 1u);
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(AnyOf(StartsWith("-1"), StartsWith("max")))));
  executor().signal(1, SIGTERM);
  containers().endOf(1);
}

TEST_F(ContainerThrottleTest, ATaskThatDoesNotRunIsNotFound) {
  EXPECT_EQ(executor().throttle(1, {.cpu = 0.5}).error().code, ErrorCode::kNotFound);
}

TEST_F(ContainerThrottleTest, DisksAreNotThrottledWhereItsUseOfThemIsNotKnown) {
  startReady(twoProcesses(1));
  EXPECT_EQ(executor().throttle(1, {.disk = 0.5}).error().code, ErrorCode::kUnavailable);
  executor().signal(1, SIGTERM);
  containers().endOf(1);
}

// A socket of this machine's loopback that gets datagrams.
class Receiver {
 public:
  Receiver() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const int room = 4 << 20;
    EXPECT_EQ(::setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room), 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }
  uint16_t port() const { return port_; }
  // Of those that have come.
  int count() {
    int came = 0;
    for (char byte; ::recv(socket_, &byte, 1, MSG_DONTWAIT) >= 0;) ++came;
    return came;
  }

 private:
  const kj::AutoCloseFd socket_;
  uint16_t port_ = 0;
};

TEST_F(ContainerThrottleTest, ItsNetworkTrafficIsThrottledToAShareOfHowMuchThereWas) {
  if (std::ranges::count(executor().missing(), kNetworkLimit) > 0) GTEST_SKIP() << "no BPF";
  Receiver receiver;
  // Ten datagrams at each SIGUSR1.
  startReady(script(1,
                    "exec python3 -uc 'import signal, socket, sys\n"
                    "to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                    "print(\"ready\")\n"
                    "for i in range(9):\n"
                    "  signal.sigwait([signal.SIGUSR1])\n"
                    "  for j in range(10):\n"
                    "    try: to.sendto(bytes(20000), (\"127.0.0.1\", " +
                        std::to_string(receiver.port()) +
                        "))\n"
                        "    except PermissionError: print(\"forbidden\")\n"
                        "  print(\"sent\", i)'"));
  int rounds = 0;
  const auto send = [&]() {
    executor().signal(1, SIGUSR1);
    containers().untilOutput(1, "sent " + std::to_string(rounds++));
    return receiver.count();
  };
  EXPECT_EQ(send(), 10);
  EXPECT_EQ(executor().throttle(1, {.network = 0.1}).error().code, ErrorCode::kUnavailable)
      << "how much it uses is not known";
  executor().noteUseRates({{1, {.network = 50'000}}});
  ASSERT_TRUE(executor().throttle(1, {.network = 0.02}).ok());
  // At 1,000 bytes a second one datagram has the time of 20 s.
  EXPECT_LE(send(), 2);
  executor().noteUseRates({{1, {.network = 1'000}}});
  ASSERT_TRUE(executor().throttle(1, {.cpu = 0.9, .network = 0.02}).ok());
  EXPECT_LE(send(), 2) << "by what it used before it was throttled";
  EXPECT_FALSE(executor().throttle(1, {.disk = 0.5}).ok()) << "its rate is not known";
  EXPECT_EQ(send(), 10) << "so it is not throttled at all";
  EXPECT_THAT(containers().out(1), Not(HasSubstr("forbidden"))) << "nobody hears of what is dropped";
  executor().signal(1, SIGKILL);
  containers().endOf(1);
}

TEST_F(ContainerThrottleTest, WhereOneShareCannotBeTheOthersAreNeither) {
  startReady(twoProcesses(1));
  if (const Status throttled = executor().throttle(1, {.cpu = 0.25}); !throttled.ok())
    GTEST_SKIP() << throttled.error().message;
  EXPECT_FALSE(executor().throttle(1, {.cpu = 0.25, .network = 0.5}).ok()) << "its rate is not known";
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(AnyOf(StartsWith("-1"), StartsWith("max")))));
  executor().signal(1, SIGTERM);
  containers().endOf(1);
}

TEST_F(ContainerThrottleTest, DisksAreThrottledToAShareOfHowMuchItUsedThemAndThenToTheJobsOwnLimit) {
  if (physicalDisks("/sys").empty()) GTEST_SKIP() << "no physical disk";
  LaunchSpec spec = twoProcesses(1);
  spec.limits.diskBytesPerSecond = 7'000'000;
  startReady(spec);
  executor().noteUseRates({{1, {.disk = 1e6}}});
  const Status throttled = executor().throttle(1, {.disk = 0.25});
  if (!throttled.ok()) GTEST_SKIP() << throttled.error().message;
  const CgroupDirectories in = executor().running().front().cgroups;
  const auto limit = [&in]() {
    const std::string v1 = textOf(in.blkio + "/blkio.throttle.write_bps_device");
    return v1.empty() ? textOf(in.unified + "/io.max") : v1;
  };
  EXPECT_THAT(limit(), HasSubstr("250001"));
  executor().noteUseRates({{1, {.disk = 250e3}}});
  ASSERT_TRUE(executor().throttle(1, {.disk = 0.5}).ok());
  EXPECT_THAT(limit(), HasSubstr("500001")) << "by what it used before it was throttled";
  ASSERT_TRUE(executor().throttle(1, {}).ok());
  EXPECT_THAT(limit(), HasSubstr("7000000"));
  executor().signal(1, SIGTERM);
  EXPECT_TRUE(containers().endOf(1).succeeded());
}

}  // namespace tarcil::container_throttle_test
