// What monitors measure of tasks: charged, published, shown, not stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"
#include "tests/support/builders.h"

namespace tarcil::charges_test {

using namespace master;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kMemory = static_cast<size_t>(Resource::kMemoryCapacity);

struct ChargedTask : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});
  SessionId agent = master.attachAgent("agent");
  AllocationId task = place(1, 20);

  AllocationId place(int job, uint8_t declared) {
    JobSpec asked = spec();
    asked.profile = causing(Resource::kDiskBandwidth, declared);
    Commit commit = newJob(job, asked);
    commit.claims = {claim(0, 0)};
    return master.place(agent, commit);
  }

  std::vector<Action> report(const std::string& server, AllocationId allocation, uint8_t disk) {
    TaskPressure pressure{allocation, {}, {}};
    pressure.caused[kDisk] = disk;
    pressure.measured.set(kDisk);
    return reportOf(server, pressure);
  }
  std::vector<Action> reportOf(const std::string& server, const TaskPressure& pressure) {
    return master.handle(PressureReported{monitor, {{server, {}, {}, {pressure}}}});
  }
  int charged() { return master.status("a").sum[kDisk]; }
};

TEST_F(ChargedTask, CausesWhatItsProfileSaysUntilItIsMeasured) {
  EXPECT_EQ(charged(), 20);
  EXPECT_THAT(master.job(1).charges, IsEmpty());
}

TEST_F(ChargedTask, IsChargedForWhatWasMeasuredAndAgentsHearOfIt) {
  const auto published = only<PublishServer>(report("a", task, 70));
  ASSERT_THAT(published, SizeIs(1));
  EXPECT_EQ(published[0].update.status.sum[kDisk], 70);
  EXPECT_EQ(charged(), 70);
  EXPECT_THAT(only<PublishServer>(report("a", task, 70)), IsEmpty()) << "nothing has changed";
}

TEST_F(ChargedTask, IsChargedForLessWhereItCausesLess) {
  report("a", task, 3);
  EXPECT_EQ(charged(), 3);
}

TEST_F(ChargedTask, CausesWhatItsProfileSaysWhereNothingIsMeasured) {
  TaskPressure pressure{task, {}, {}};
  pressure.caused[kMemory] = 40;
  pressure.measured.set(kMemory);
  reportOf("a", pressure);
  EXPECT_EQ(charged(), 20);
  EXPECT_EQ(master.status("a").sum[kMemory], 40);
}

TEST_F(ChargedTask, TakesItsChargeAlongWhenItEnds) {
  report("a", task, 70);
  master.ended(monitor, task, exitedWith(0));
  EXPECT_EQ(charged(), 0);
}

TEST_F(ChargedTask, CountsAsWhatWouldArriveSoFromTheReference) {
  Share share = fullShare();
  share[kDisk] = kShareUnit / 2;
  master.handle(PlatformSet{1, "p", share});
  report("a", task, 30);
  EXPECT_EQ(charged(), 60);
  EXPECT_EQ(master.logic().server("a")->contention[kDisk], 30);
  report("a", task, 90);
  EXPECT_EQ(charged(), kMaxPressure) << "more cannot be said";
  share[kDisk] = 0;
  master.handle(PlatformSet{2, "p", share});
  report("a", task, 50);
  EXPECT_EQ(charged(), 20) << "nothing of it arrives, whatever it is";
}

TEST_F(ChargedTask, IsNoBurdenToItself) {
  report("a", task, 99);
  EXPECT_THAT(master.logic().server("a")->tasks.at(0).over, IsEmpty());
}

TEST_F(ChargedTask, IsShownWithItsChargeBesideItsProfile) {
  report("a", task, 70);
  const auto shown = master.logic().server("a")->tasks.at(0);
  EXPECT_EQ(shown.profile.caused[kDisk], 20);
  EXPECT_EQ(shown.charged[kDisk], 70);
  EXPECT_EQ(shown.measured, ResourceSet().set(kDisk));
  ASSERT_THAT(master.job(1).charges, SizeIs(1));
  EXPECT_EQ(master.job(1).charges[0].caused[kDisk], 70);
}

TEST_F(ChargedTask, KeepsANewcomerAwayThatWouldSuffer) {
  report("a", task, 70);
  JobSpec sensitive = spec();
  sensitive.target = 0.95;
  sensitive.profile = causing(Resource::kDiskBandwidth, 0);
  sensitive.profile.tolerated[kDisk] = 30;
  Commit commit = newJob(2, sensitive);
  commit.claims = {claim(0, 0)};
  commit.claims[0].versionSeen = 0;
  commit.claims[0].floor = 0.95;
  const CommitAnswer answer = master.commit(agent, commit);
  ASSERT_THAT(answer.grants, SizeIs(1));
  EXPECT_NE(answer.grants[0].verdict, Verdict::kGranted);
}

TEST_F(ChargedTask, IsThatOfTheServerAndTheSession) {
  report("b", task, 70);
  report("a", task + 1000, 70);
  EXPECT_EQ(charged(), 20);
  master.detach(monitor);
  report("a", task, 70);
  EXPECT_EQ(charged(), 20);
}

TEST_F(ChargedTask, IsNotStoredAndSaidAgainByTheMonitor) {
  EXPECT_THAT(only<Persist>(report("a", task, 70)), IsEmpty());
  master.restart();
  EXPECT_EQ(charged(), 20);
  monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{task, "a"}});
  report("a", task, 70);
  EXPECT_EQ(charged(), 70);
}

}  // namespace tarcil::charges_test
