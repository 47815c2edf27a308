// Memory and disk of servers: claimed with slots, kept through restarts, and given back.
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::logic_bytes_test {

using namespace master;

constexpr uint64_t kGiB = uint64_t{1} << 30;

ServerFacts server(uint64_t memory) {
  ServerFacts facts = serverFacts("a", 8);
  facts.memoryBytes = memory;
  facts.diskBytes = 80 * kGiB;
  return facts;
}

// Server a (number 0, 8 units, 16 GiB of memory, 80 of disk) and an agent.
struct BytesOfServers : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {server(16 * kGiB)});
  SessionId agent = master.attachAgent("x");

  // The answer to a first commit that claims a slot of server a for each task.
  CommitAnswer submit(int number, uint32_t tasks, uint64_t memoryEach,
                      Schedule schedule = Schedule::kIncremental) {
    JobSpec wanted = spec(tasks);
    wanted.limits.memoryBytes = memoryEach;
    wanted.schedule = schedule;
    Commit commit = newJob(number, wanted);
    for (TaskIndex task = 0; task < tasks; ++task) commit.claims.push_back(claim(task, 0));
    return master.commit(agent, commit);
  }
  ByteResources allocated() { return master.status("a").allocated; }
};

TEST_F(BytesOfServers, AreNotGivenTwice) {
  const CommitAnswer answer = submit(1, 3, 7 * kGiB);
  EXPECT_EQ(answer.grants.at(1).verdict, Verdict::kGranted);
  EXPECT_EQ(answer.grants.at(2), Grant{Verdict::kNoMemory});
  EXPECT_EQ(allocated(), (ByteResources{14 * kGiB, 20 * kGiB}));
  EXPECT_EQ(submit(2, 2, 0).grants.at(1).verdict, Verdict::kNoMemory) << "2 GiB go with a unit";
}

TEST_F(BytesOfServers, OfAGangAreGivenToAllOrNone) {
  const ServerStatus before = master.status("a");
  EXPECT_EQ(submit(1, 3, 7 * kGiB, Schedule::kGang).grants.at(0), Grant{Verdict::kNotAll});
  EXPECT_EQ(master.status("a"), before);
}

TEST_F(BytesOfServers, ComeBackWhenTheTaskEnds) {
  const CommitAnswer first = submit(1, 2, 7 * kGiB);
  master.ended(monitor, first.grants.at(0).allocation, exitedWith(0));
  EXPECT_EQ(allocated(), (ByteResources{7 * kGiB, 10 * kGiB}));
}

TEST_F(BytesOfServers, AreStillHeldAfterARestart) {
  submit(1, 1, 15 * kGiB);
  master.restart();
  EXPECT_EQ(allocated(), (ByteResources{15 * kGiB, 10 * kGiB}));
  monitor = master.attachMonitor("m", {server(16 * kGiB)});
  agent = master.attachAgent("x");
  EXPECT_EQ(submit(2, 1, 2 * kGiB).grants.at(0).verdict, Verdict::kNoMemory);
}

TEST_F(BytesOfServers, AreCountedAnewWhereTheServerComesBackWithOthers) {
  const AllocationId allocation = submit(1, 1, 0).grants.at(0).allocation;
  EXPECT_EQ(allocated().memory, 2 * kGiB);
  monitor = master.attachMonitor("m", {server(8 * kGiB)}, {{allocation, "a"}});
  EXPECT_EQ(allocated().memory, kGiB);
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(allocated(), ByteResources{});
}

}  // namespace tarcil::logic_bytes_test
