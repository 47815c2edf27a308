// Servers that are slices of one machine (docs/slices.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "deploy/local_cluster.h"
#include "deploy/slices/slice_network.h"
#include "deploy/slices/slices.h"
#include "tests/support/cluster.h"

namespace tarcil::slices_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Why there can be none of two slices here; empty where there can.
std::string whyNoSlices() {
  if (std::string reason = whyNoProcesses(); !reason.empty()) return reason;
  const Status good = checkSlices({"/nowhere", {"server-1", "server-2"}, {0, 1}, {}});
  return ::sysconf(_SC_NPROCESSORS_ONLN) < 2 ? "there is one core" : good.ok() ? "" : good.error().message;
}

#define SKIP_WITHOUT_SLICES() \
  if (const std::string reason = whyNoSlices(); !reason.empty()) GTEST_SKIP() << reason

std::string contentOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What of slices is on this machine.
struct Leftovers {
  explicit Leftovers(std::string folder) : data(std::move(folder)) {}

  bool mounts() const { return contentOf("/proc/self/mounts").find(data) != std::string::npos; }
  bool networks() const { return std::filesystem::exists(SliceNetworks(data).namespacePath(0)); }
  bool interfaces() const {
    return contentOf("/proc/net/dev").find(SliceNetworks(data).bridge()) != std::string::npos;
  }

  const std::string data;
};

const std::vector<std::string> kTwoSlices = {"--slices",
                                             "2",
                                             "--rus",
                                             "2",
                                             "--slice-memory",
                                             "1GiB",
                                             "--slice-disk",
                                             "128MiB",
                                             "--disk-bandwidth",
                                             "20MB",
                                             "--pressure-period",
                                             "200ms"};

// Presses on one resource of its slice; what it costs a machine of two cores is little.
struct Hog {
  const char* resource;
  const char* command;
  int least;  // pressure that it surely makes
};

const Hog kHogs[] = {
    {"memory_capacity", "dd if=/dev/zero of=/dev/null bs=400M count=1000000 status=none", 20},
    {"disk_bandwidth",
     "sh -c 'while :; do dd if=/dev/zero of=written bs=1M count=50 oflag=direct status=none; done'", 40},
    {"network_bandwidth",
     "python3 -c 'import os, socket, time\nto = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
     "while True:\n  to.sendto(bytes(20000), (os.environ[\"MACHINE\"], 9)); time.sleep(0.001)'",
     10},
};

struct Slices : testing::TestWithParam<Hog> {
  void SetUp() override { SKIP_WITHOUT_SLICES(); }
};

TEST_P(Slices, FeelWhatTheirOwnTasksDoAndNotWhatOthersDo) {
  const SupervisedCluster cluster(kTwoSlices);
  const Hog& hog = GetParam();
  const auto of = [&](const char* server, const char* what) {
    const Json pressures = cluster.json({"server", "show", server})[what];
    return pressures.is_object() && pressures[hog.resource].is_number() ? pressures[hog.resource].get<int>()
                                                                        : 0;
  };
  const std::string job = cluster.submit(
      shellJob("export MACHINE=" + SliceNetworks(cluster.data()).machineAddress() + "; exec " + hog.command,
               "profile: {caused: {l2: 1}}\nplacement: {prefer: [server-1]}\nlimits: {memory: 900MiB}\n"));
  // What a task does is no background, and nothing that others feel.
  cluster.until("its server alone feels it", [&]() {
    return of("server-1", "contention") >= hog.least && of("server-1", "background") < hog.least / 2 &&
           of("server-2", "contention") < hog.least / 2;
  });
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "cancelled");
}

INSTANTIATE_TEST_SUITE_P(Two, Slices, testing::ValuesIn(kHogs), [](const testing::TestParamInfo<Hog>& info) {
  return std::string(info.param.resource);
});

TEST(SlicesOfAMachine, KeepTasksToTheirCoresAndTheirDiskToItsBandwidth) {
  SKIP_WITHOUT_SLICES();
  const SupervisedCluster cluster(kTwoSlices);
  const auto coresOn = [&cluster](const std::string& server) {
    const std::string job = cluster.submit(
        shellJob("grep Cpus_allowed_list /proc/self/status", "placement: {prefer: [" + server + "]}\n"));
    EXPECT_EQ(cluster.ended(job)["state"], "done");
    return cluster.run({"job", "logs", job}).out;
  };
  EXPECT_NE(coresOn("server-1"), coresOn("server-2"));
  // 20 MiB at 20 MB a second; how much longer it takes says nothing.
  const std::string script =
      "begin=$(date +%s%N); dd if=/dev/zero of=written bs=1M count=20 oflag=direct status=none || exit; "
      "echo $((($(date +%s%N) - begin) / 1000000))";
  const ProcessResult written = cluster.run({"run", "--", "sh", "-c", script});
  ASSERT_EQ(written.exitCode, 0) << written.err;
  EXPECT_GE(std::stoi(written.out), 900);
}

TEST(SlicesOfAMachine, AreTakenAwayAndMadeAgainWithTheFilesOnTheirDisks) {
  SKIP_WITHOUT_SLICES();
  const SupervisedCluster cluster(kTwoSlices);
  const Leftovers left(cluster.data());
  EXPECT_TRUE(left.mounts());
  EXPECT_TRUE(left.networks());
  EXPECT_TRUE(left.interfaces());
  struct stat images {};
  ASSERT_EQ(::stat((cluster.data() + "/slices").c_str(), &images), 0);
  EXPECT_EQ(images.st_mode & 0777, 0700u) << "what tasks leave is nobody else's to read";
  struct stat image {};
  ASSERT_EQ(::stat((cluster.data() + "/slices/server-1/image").c_str(), &image), 0);
  EXPECT_GE(image.st_blocks * 512, image.st_size) << "its room is taken";
  const std::string job = cluster.submit(shellJob("echo kept"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  const auto upAgain = [&cluster]() {
    std::vector<std::string> arguments = {"up", "--detach"};
    arguments.insert(arguments.end(), kTwoSlices.begin(), kTwoSlices.end());
    return cluster.run(arguments);
  };

  // Nobody takes them away; the next start does.
  ASSERT_EQ(::kill(runningSupervisor(cluster.data())->pid, SIGKILL), 0);
  cluster.until("its roles have ended", [&]() { return !isStillEnding(cluster.data()); });
  EXPECT_TRUE(left.mounts());
  const ProcessResult again = upAgain();
  ASSERT_EQ(again.exitCode, 0) << again.err;
  EXPECT_EQ(cluster.run({"job", "logs", job}).out, "kept\n");

  ASSERT_EQ(cluster.run({"down"}).exitCode, 0);
  EXPECT_FALSE(left.mounts());
  EXPECT_FALSE(left.networks());
  EXPECT_FALSE(left.interfaces());

  const ProcessResult other = cluster.run({"up", "--detach", "--slices", "2", "--slice-disk", "256MiB"});
  EXPECT_EQ(other.exitCode, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("--slice-disk"), HasSubstr("128MiB")));
  EXPECT_FALSE(left.networks());
}

pid_t processOf(const std::string& argument) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string words = contentOf(entry.path() / "cmdline");
    if (words.find("tarcil-limited-disk") != std::string::npos && words.find(argument) != std::string::npos)
      return std::stoi(entry.path().filename());
  }
  return 0;
}

TEST(SlicesOfAMachine, WhoseDiskFailsAreStoppedAndTheirTasksGoElsewhere) {
  SKIP_WITHOUT_SLICES();
  const SupervisedCluster cluster(kTwoSlices);
  TraceFolder traces;
  const std::string job = cluster.submit(shellJob(
      "trap '" + traces.note("asked") + "exit 0' TERM; " + traces.note("started") + traces.waitForGate(),
      "placement: {prefer: [server-1]}\nrestart: {attempts: 0, on_lost: false}\n"));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  ASSERT_EQ(cluster.status(job)["tasks"][0]["server"], "server-1");
  const pid_t disk = processOf(cluster.data() + "/slices/server-1/image");
  ASSERT_GT(disk, 0);
  ::kill(disk, SIGKILL);
  ASSERT_TRUE(traces.waitForLines("started", 2));
  EXPECT_EQ(traces.lines("asked").size(), 1u);
  EXPECT_EQ(cluster.status(job)["tasks"][0]["server"], "server-2");
  EXPECT_THAT(cluster.log(), HasSubstr("server-1: its disk has failed"));
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.run({"down"}).exitCode, 0);
  EXPECT_FALSE(Leftovers(cluster.data()).mounts());
}

struct WrongSlices {
  const char* name;
  std::vector<std::string> options;
  const char* says;
};

struct SlicesBadInput : testing::TestWithParam<WrongSlices> {};

TEST_P(SlicesBadInput, IsRefusedBeforeAnythingIsMade) {
  SKIP_WITHOUT_CONTAINERS();
  struct Nothing final : TestCluster {
  } cluster;
  std::vector<std::string> arguments = {"up", "--detach"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  const ProcessResult result = cluster.run(arguments);
  EXPECT_EQ(result.exitCode, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().says));
  EXPECT_FALSE(std::filesystem::exists(cluster.data()));
}

INSTANTIATE_TEST_SUITE_P(
    Options, SlicesBadInput,
    testing::Values(
        WrongSlices{"TooMany", {"--slices", "250", "--cores", "0"}, "each slice has a core of its own"},
        WrongSlices{"None", {"--slices", "0"}, "--slices"},
        WrongSlices{"WithServers", {"--slices", "1", "--servers", "2"}, "--servers"},
        WrongSlices{"WithEmulated", {"--slices", "1", "--emulate", "x"}, "--emulate"},
        WrongSlices{"SizesWithoutThem", {"--slice-memory", "1GiB"}, "goes with --slices"},
        WrongSlices{"LittleMemory", {"--slices", "1", "--slice-memory", "1MiB"}, "64MiB or more"},
        WrongSlices{"MoreMemoryThanThereIs", {"--slices", "1", "--slice-memory", "1024TiB"}, "have at most"},
        WrongSlices{"NoSize", {"--slices", "1", "--slice-memory", "much"}, "--slice-memory"},
        WrongSlices{"LittleDisk", {"--slices", "1", "--slice-disk", "1MiB"}, "64MiB or more"},
        WrongSlices{"DiskThatStands", {"--slices", "1", "--disk-bandwidth", "1B"}, "100KB to 100GB"},
        WrongSlices{"NetworkThatStands", {"--slices", "1", "--network-bandwidth", "1B"}, "100KB to 100GB"},
        WrongSlices{"CoreThatIsNotThere", {"--slices", "1", "--cores", "60000"}, "no core 60000"}),
    [](const testing::TestParamInfo<WrongSlices>& info) { return std::string(info.param.name); });

}  // namespace tarcil::slices_test
