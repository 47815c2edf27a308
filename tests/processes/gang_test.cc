// Tasks of a gang find each other: on servers that are hosts of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/cluster.h"

namespace tarcil::gang_test {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

constexpr char kMpirun[] = "/usr/bin/mpirun";

#define SKIP_WITHOUT_OPEN_MPI() \
  if (!fs::exists(kMpirun)) GTEST_SKIP() << kMpirun << " is not there: install openmpi-bin"

const std::vector<std::string> kHosts = {"master", "agent-1", "server-1", "server-2", "server-3", "user"};

// A gang of so many tasks, each on a server of its own.
std::string gangOf(uint32_t tasks, const std::string& script, const std::string& more = "") {
  return shellJob(script, "tasks: " + std::to_string(tasks) +
                              "\nschedule: gang\nplacement: {spread: server, at_most: 1}\n" + more);
}

// The addresses of the job's tasks, in the order of their indices.
std::vector<std::string> addressesOf(const TestCluster& cluster, const VirtualNetwork& network,
                                     const std::string& job) {
  std::vector<std::string> addresses;
  const Json status = cluster.status(job);
  for (const Json& task : status["tasks"])
    addresses.push_back(network.addressOf(task["server"].get<std::string>()));
  return addresses;
}

TEST(GangTasks, KnowTheHostsOfAllInTheOrderOfTheirRanks) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network(kHosts);
  ManualCluster cluster({.servers = 3, .rus = 1, .network = &network});
  const std::string told = cluster.traces().at("told");
  const std::string job = cluster.submit(
      gangOf(3, "echo $TARCIL_RANK $TARCIL_HOSTS $(tr '\\n' '+' < $TARCIL_HOSTFILE) >> " + told));
  ASSERT_EQ(cluster.ended(job)["state"], "done");

  const std::vector<std::string> at = addressesOf(cluster, network, job);
  ASSERT_EQ(at.size(), 3u);
  const std::string others = " " + at[0] + "," + at[1] + "," + at[2] + " " + at[0] + " slots=1+" + at[1] +
                             " slots=1+" + at[2] + " slots=1+";
  EXPECT_THAT(cluster.traces().lines("told"), UnorderedElementsAre("0" + others, "1" + others, "2" + others));
}

TEST(GangTasks, ThatAreStartedAgainElsewhereKnowWhereAllAreNow) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network(kHosts);
  ManualCluster cluster(
      {.servers = 3, .rus = 1, .masterFlags = {"--server-timeout", "100ms"}, .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      gangOf(2, "echo $TARCIL_RANK $TARCIL_HOSTS >> " + traces.at("told") + "; " + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("told", 2));
  const std::vector<std::string> before = addressesOf(cluster, network, job);
  network.cut(cluster.status(job)["tasks"][1]["server"]);
  ASSERT_TRUE(traces.waitForLines("told", 3));

  const std::vector<std::string> now = addressesOf(cluster, network, job);
  EXPECT_EQ(now[0], before[0]);
  EXPECT_NE(now[1], before[1]);
  EXPECT_EQ(traces.lines("told")[2], "1 " + now[0] + "," + now[1]);
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

// The example's folder, with a token, in the cluster's own.
std::string exampleOn(TestCluster& cluster) {
  std::string folder = cluster.traces().at("mpi");
  fs::copy(TARCIL_SOURCE_DIR "/examples/mpi", folder);
  std::ofstream(folder + "/token") << "a token of the test";
  return folder;
}

std::string outputOf(const TestCluster& cluster, const std::string& job) {
  const ProcessResult logs = cluster.run({"job", "logs", job, "--task", "0"});
  return logs.out + logs.err;
}

TEST(GangTasks, RunTheExampleOfOpenMpiOnThreeServers) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  SKIP_WITHOUT_OPEN_MPI();
  VirtualNetwork network(kHosts);
  ManualCluster cluster({.servers = 3, .rus = 1, .network = &network});
  const std::string job =
      cluster.json({"submit", exampleOn(cluster) + "/gang.yaml"})["job"].get<std::string>();
  const Json ended = cluster.ended(job);
  const std::string output = outputOf(cluster, job);
  EXPECT_EQ(ended["state"], "done") << ended << output;
  for (const char* task : {"0", "1", "2"}) {
    EXPECT_THAT(output, HasSubstr(std::string("of 3 is in task ") + task + "\n"));
  }
  cluster.expectAllUnitsFree();
}

// Of MPI's own messages: each rank adds its number to those of the others.
constexpr char kSum[] = R"(
import ctypes
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
of = lambda name: ctypes.byref(ctypes.c_char.in_dll(mpi, name))
mpi.MPI_Init(None, None)
world, rank, sum = of("ompi_mpi_comm_world"), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(sum), 1, of("ompi_mpi_int"), of("ompi_mpi_op_sum"), world)
print("rank", rank.value, "has the sum", sum.value, flush=True)
mpi.MPI_Finalize()
)";

TEST(GangTasks, SendEachOtherMessagesOfMpi) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  SKIP_WITHOUT_OPEN_MPI();
  VirtualNetwork network(kHosts);
  ManualCluster cluster({.servers = 3, .rus = 1, .network = &network});
  const std::string folder = exampleOn(cluster);
  std::ofstream(folder + "/sum.py") << kSum;
  std::ofstream(folder + "/sum.yaml") << "command: [python3, gang.py, python3, sum.py]\n"
                                         "files: [gang.py, token, sum.py]\ntasks: 3\nschedule: gang\n"
                                         "placement: {spread: server, at_most: 1}\n";
  const std::string job = cluster.json({"submit", folder + "/sum.yaml"})["job"].get<std::string>();
  const Json ended = cluster.ended(job);
  const std::string output = outputOf(cluster, job);
  EXPECT_EQ(ended["state"], "done") << ended << output;
  for (const char* rank : {"0", "1", "2"}) {
    EXPECT_THAT(output, HasSubstr(std::string("rank ") + rank + " has the sum 3\n"));
  }
}

}  // namespace tarcil::gang_test
