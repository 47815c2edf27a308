// Roles that have too few descriptors or too little memory, and tasks that take all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cluster.h"

namespace tarcil::shortage_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::string contentOf(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// --- Descriptors ------------------------------------------------------------------------------------------

// Peers that connect and say nothing.
class Crowd final {
 public:
  Crowd(const std::string& socket, int count) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    for (int i = 0; i < count; ++i) {
      fds_.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      // Waits where the queue of the socket is full.
      EXPECT_EQ(::connect(fds_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
  }
  ~Crowd() {
    for (const int fd : fds_) ::close(fd);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<int> fds_;
};

class FewDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(FewDescriptors, AreSaidAndTheRoleServesOnWhenSomeAreFree) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string role = GetParam();
  ManualCluster cluster({.rus = 2, .shellOf = {{role, "ulimit -n 256"}}});
  const TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  ASSERT_TRUE(traces.waitForLines("started", 2));
  {
    const Crowd crowd(cluster.data() + "/run/" + role + ".sock", 300);
    cluster.until("it says why peers are turned away",
                  [&]() { return cluster.logOf(role).find("ulimit -n") != std::string::npos; });
    traces.openGate();
    ASSERT_TRUE(traces.waitForLines("ended", 2));
  }
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  const std::string later = cluster.submit(shellJob(traces.note("later"), "tasks: 4\nconcurrency: 2\n"));
  EXPECT_EQ(cluster.ended(later)["state"], "done");
  EXPECT_THAT(traces.lines("later"), UnorderedElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  cluster.expectAllUnitsFree();
}

TEST_P(FewDescriptors, AreNotTakenByWhoeverReadsMetrics) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string role = GetParam();
  ManualCluster cluster({.rus = 2, .shellOf = {{role, "ulimit -n 256"}}});
  const Crowd readers(cluster.data() + "/run/" + role + ".metrics.sock", 300);
  const std::string job = cluster.submit(shellJob("true", "tasks: 4\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.run({"metrics", role}).exitCode, 0);
  EXPECT_EQ(cluster.logOf(role).find("ulimit -n"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Roles, FewDescriptors, testing::Values("master", "agent-1", "server-1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// --- Address space ----------------------------------------------------------------------------------------

// It has what it has, and little more.
void limitAddressSpace(pid_t process) {
  constexpr rlim_t kLittle = 16 << 20;
  uint64_t pages = 0;
  std::ifstream("/proc/" + std::to_string(process) + "/statm") >> pages;
  ASSERT_GT(pages, 0u);
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kLittle;
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(::prlimit(process, RLIMIT_AS, &limit, nullptr), 0);
}

// What is handed to the cluster takes more than the process may have.
struct LargeJob {
  explicit LargeJob(const TestCluster& cluster, const TraceFolder& traces)
      : file(cluster.jobFile(shellJob(traces.note("large"), "files: [large]\n"))) {
    const fs::path large = fs::path(file).parent_path() / "large";
    std::ofstream(large).flush();
    fs::resize_file(large, 48 << 20);
  }
  const std::string file;
};

TEST(NoMemoryOfTheMaster, EndsItByNameAndTheNextOneHasAllThatWasAnswered) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  limitAddressSpace(cluster.pidOf("master"));
  const LargeJob large(cluster, traces);
  EXPECT_EQ(cluster.run({"submit", "--wait", large.file}).exitCode, 0);
  EXPECT_THAT(contentOf(cluster.data() + "/log/master.log"), HasSubstr("no memory is left"));
  EXPECT_THAT(cluster.log(), HasSubstr("master exited with code 1; starting it again"));
  traces.openGate();
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(1));
  EXPECT_THAT(traces.lines("large"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

class NoMemory : public testing::TestWithParam<const char*> {};

// It ends by name, or refuses what does not fit.
TEST_P(NoMemory, OfAnotherRoleLosesNothingAndTheClusterServesOn) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  limitAddressSpace(cluster.pidOf(GetParam()));
  const LargeJob large(cluster, traces);
  cluster.run({"submit", large.file});
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  traces.openGate();
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(1));
  EXPECT_LE(traces.lines("large").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Roles, NoMemory, testing::Values("agent-1", "server-1"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

// --- Memory of the machine --------------------------------------------------------------------------------

int oomScoreOf(pid_t process) {
  return std::stoi(contentOf("/proc/" + std::to_string(process) + "/oom_score_adj"));
}

bool mayLowerScores() {
  const int own = oomScoreOf(::getpid());
  const bool may = (std::ofstream("/proc/self/oom_score_adj") << own - 1 << std::flush).good();
  std::ofstream("/proc/self/oom_score_adj") << own;
  return may;
}

TEST(MemoryPressure, TakesTasksBeforeRolesAndShims) {
  SKIP_WITHOUT_CONTAINERS();
  const int most = mayLowerScores() ? -1 : 0;
  ManualCluster cluster({.rus = 1});
  const TraceFolder& traces = cluster.traces();
  cluster.submit(shellJob("cat /proc/self/oom_score_adj > " + traces.at("task") + "; echo > " +
                          traces.at("started") + "; " + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const int task = std::stoi(traces.lines("task").at(0));
  EXPECT_GT(task, 0) << "before what else runs on the machine";
  for (const char* role : {"master", "agent-1", "server-1"})
    EXPECT_LE(oomScoreOf(cluster.pidOf(role)), most) << role;
  ASSERT_THAT(cluster.shimsOf("server-1"), SizeIs(1));
  EXPECT_LE(oomScoreOf(cluster.shimsOf("server-1")[0]), most);
}

TEST(MemoryPressure, OfAServerEndsTheTaskThatMakesIt) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2,
                         .monitorFlags = {"--enforce-memory", "--memory-overcommit", "10"},
                         .optionsOf = {{"server-1", {{"--memory", "128MiB"}}}}});
  const TraceFolder& traces = cluster.traces();
  const std::string quiet = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const std::string greedy =
      cluster.submit("command: [perl, -e, '$x = \"x\" x (300 << 20); sleep 1000']\nlimits: {memory: 1GiB}\n");
  const Json ended = cluster.ended(greedy);
  EXPECT_EQ(ended["state"], "failed");
  EXPECT_EQ(ended["tasks"][0]["oom_killed"], true) << ended;
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  traces.openGate();
  EXPECT_EQ(cluster.ended(quiet)["state"], "done");
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::shortage_test
