// Profiles that promise too much.
#include "master/logic/health/learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::learning_test {

using namespace master;
using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kBandwidth = static_cast<size_t>(Resource::kMemoryBandwidth);

// The application "scan" is stored by alice as one that tolerates 80 of memory bandwidth, and runs beside one
// that causes 40.
struct Learning : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");
  int jobs = 0;
  AllocationId neighbour = run(pressing(40));

  static JobSpec pressing(uint8_t bandwidth) {
    JobSpec job = spec();
    job.profile = causing(Resource::kMemoryBandwidth, bandwidth);
    return job;
  }
  static JobSpec scan() {
    JobSpec job = pressing(10);
    job.profile.application = "scan";
    job.profile.tolerated[kBandwidth] = 80;
    job.profile.origins = ProfileOrigins::all(Origin::kMeasured);
    job.performance = PerformanceGoal{};
    return job;
  }
  void SetUp() override { master.handle(ProfileStored{1, user("alice"), scan().profile, ""}); }

  AllocationId run(const JobSpec& job) {
    Commit commit = newJob(++jobs, job);
    commit.claims = {claim(0, 0)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  void suffer(AllocationId allocation, Metric metric = Metric::kReported,
              Cause::Kind kind = Cause::Kind::kNeighbour) {
    Violation violation;
    violation.allocation = allocation;
    violation.metric = metric;
    violation.expected = 100;
    violation.measured = 70;
    violation.causes = {{kind, Resource::kMemoryBandwidth, neighbour, 1, ""}};
    master.handle(ViolationsReported{monitor, {violation}});
    violation.over = true;
    master.handle(ViolationsReported{monitor, {violation}});
  }
  const StoredProfile& stored() { return *master.logic().profile("scan", "alice"); }
  int tolerated() { return stored().profile.tolerated[kBandwidth]; }
};

TEST_F(Learning, LowersWhatIsToleratedStepByStep) {
  const AllocationId task = run(scan());
  suffer(task);
  EXPECT_EQ(tolerated(), 75);
  ASSERT_THAT(stored().history, SizeIs(1));
  EXPECT_EQ(stored().history.front(),
            (ProfileLesson{master.now().wall, Resource::kMemoryBandwidth, 80, 75, 40, 0.7}));
  EXPECT_EQ(stored().revision, 2u);
  EXPECT_EQ(stored().profile.origins.tolerated[kBandwidth], EntryOrigin{Origin::kObserved});
  EXPECT_EQ(stored().profile.origins.tolerated[0], EntryOrigin{Origin::kMeasured})
      << "of the others as it was";
  suffer(task);
  EXPECT_EQ(tolerated(), 75) << "one bad hour does not spoil it";
  const StoredProfile before = stored();
  master.restart();
  EXPECT_EQ(stored(), before);
}

TEST_F(Learning, TakesNoLessonFromAJobThatRanWithAGuess) {
  JobSpec guessed = scan();
  guessed.profile.isAssumed = true;
  suffer(run(guessed));
  EXPECT_EQ(tolerated(), 80);
}

TEST_F(Learning, TakesNoLessonFromATaskThatIsThrottled) {
  JobSpec yielding = scan(), suffering = pressing(1);
  yielding.yields = true;
  suffering.performance = PerformanceGoal{};
  const AllocationId task = run(yielding), other = run(suffering);
  Violation violation{.allocation = other, .expected = 100, .measured = 10, .causes = {}};
  violation.causes = {{Cause::Kind::kNeighbour, Resource::kMemoryBandwidth, task, 1, ""}};
  master.handle(ViolationsReported{monitor, {violation}});
  suffer(task);
  EXPECT_EQ(tolerated(), 80);
}

TEST_F(Learning, GoesNoFurtherThanWhatWasFelt) {
  JobSpec nearly = scan();
  nearly.profile.tolerated[kBandwidth] = 42;
  master.handle(ProfileStored{1, user("alice"), nearly.profile, ""});
  const AllocationId task = run(nearly);
  suffer(task);
  EXPECT_EQ(tolerated(), 39) << "40 is more than it tolerates";
  master.pass(10min);
  suffer(task);
  EXPECT_EQ(tolerated(), 39) << "what it feels is beyond its profile: nothing is new";
}

TEST_F(Learning, ForgetsWhatWasLearntWhenTheProfileIsStoredAnew) {
  suffer(run(scan()));
  master.handle(ProfileStored{1, user("alice"), scan().profile, ""});
  EXPECT_EQ(tolerated(), 80);
  EXPECT_THAT(stored().history, IsEmpty());
}

TEST_F(Learning, LearnsNothingFromItsOwnLimitsOrFromOtherProfiles) {
  suffer(run(scan()), Metric::kReported, Cause::Kind::kCores);
  JobSpec other = scan();
  other.profile.caused[kBandwidth] = 20;
  suffer(run(other));
  EXPECT_EQ(tolerated(), 80);
}

TEST_F(Learning, BelievesNoOtherUsersTaskWhatItSaysOfItself) {
  ASSERT_EQ(stored().user, "alice");
  master.handle(ProfileDeleted{1, theOperator(), "scan", "alice"});
  master.handle(ProfileStored{1, theOperator(), scan().profile, ""});
  const AllocationId task = run(scan());
  suffer(task, Metric::kReported);
  EXPECT_EQ(tolerated(), 80);
  suffer(task, Metric::kInstructions);
  EXPECT_EQ(tolerated(), 75);
  JobSpec demanding = scan();
  demanding.performance->target = 1e12;
  master.pass(10min);
  suffer(run(demanding), Metric::kInstructions);
  JobSpec boasting = scan();
  boasting.earlier = {{"a platform", 1e12}};
  suffer(run(boasting), Metric::kInstructions);
  EXPECT_EQ(tolerated(), 75);
}

}  // namespace tarcil::learning_test
