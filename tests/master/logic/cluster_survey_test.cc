// What a survey finds of contention, pressure and kept promises, and in how many steps.
#include "master/logic/cluster_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/logic/health/degraded_tasks.h"
#include "tests/support/builders.h"

namespace tarcil::cluster_survey_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);

struct Survey : DegradedTasks {
  NamedApplications named;
  ClusterSurvey survey(SurveyLimits limits = {}) {
    ClusterSurvey survey(named, limits);
    while (!master.logic().goOn(survey, 1'000)) continue;
    return survey;
  }
  static JobSpec of(const std::string& application, const Profile& profile, uint32_t rus = 1) {
    JobSpec job = spec(1, rus);
    job.profile = profile;
    job.profile.application = application;
    return job;
  }
  std::vector<std::string> namesOf(const ClusterSurvey& survey) {
    std::vector<std::string> names;
    for (const ClusterSurvey::OfApplication& application : survey.applications())
      names.push_back(application.name + ":" + std::to_string(application.tasks));
    return names;
  }
};

TEST_F(Survey, OfAnIdleClusterFindsServersThatNobodyPresses) {
  const ClusterSurvey found = survey();
  ASSERT_THAT(found.servers(), SizeIs(2));
  EXPECT_EQ(found.servers()[0].name, "a");
  EXPECT_EQ(found.servers()[0].contention, 0);
  EXPECT_EQ(found.servers()[0].slack, std::nullopt);
  EXPECT_EQ(found.resources()[kLlc].slack, std::nullopt);
  EXPECT_EQ(found.tasks().all(), 0u);
  EXPECT_EQ(found.unitsAlone(), 0u);
  EXPECT_THAT(namesOf(found), ElementsAre(":0"));
}

TEST_F(Survey, FindsTheMostContendedResourceAndTheLeastSlackOfEachServer) {
  run(1, of("quiet", tolerating({{Resource::kLlc, 50}})), 0);
  run(2, of("loud", tarcil::causing({{Resource::kLlc, 45}, {Resource::kDiskBandwidth, 60}})), 0);
  const ClusterSurvey found = survey();
  EXPECT_EQ(found.servers()[0].contention, 60);
  EXPECT_EQ(found.servers()[0].slack, 5);
  EXPECT_EQ(found.servers()[1].contention, 0);
  EXPECT_EQ(found.resources()[kLlc].contention, 45);
  EXPECT_EQ(found.resources()[kLlc].slack, 5);
  EXPECT_EQ(found.resources()[kDisk].contention, 60);
  EXPECT_EQ(found.resources()[kLlc].overloaded, 0u);
}

TEST_F(Survey, CountsServersWhereATaskToleratesLessThanThereIs) {
  run(1, of("quiet", tolerating({{Resource::kLlc, 50}})), 0);
  master.handle(PressureReported{monitor, {{"a", tarcil::pressure({{Resource::kLlc, 70}}), {}, {}}}});
  const ClusterSurvey found = survey();
  EXPECT_EQ(found.servers()[0].slack, -20);
  EXPECT_EQ(found.resources()[kLlc].overloaded, 1u);
  EXPECT_EQ(found.resources()[kDisk].overloaded, 0u);
}

TEST_F(Survey, HoldsWhatWasPromisedAgainstWhatIsThereNow) {
  run(1, of("quiet", tolerating({{Resource::kLlc, 50}})), 0);
  const double promised = master.task(1, 0).s;
  ClusterSurvey found = survey();
  EXPECT_DOUBLE_EQ(found.tasks().promised, promised);
  EXPECT_DOUBLE_EQ(found.tasks().now, 1);
  EXPECT_EQ(found.tasks().atTarget, 1u);
  master.handle(PressureReported{monitor, {{"a", tarcil::pressure({{Resource::kLlc, 83}}), {}, {}}}});
  found = survey();
  EXPECT_DOUBLE_EQ(found.tasks().promised, promised);
  EXPECT_NEAR(found.tasks().now, 1 - 33.0 / 99, 1e-9);
  EXPECT_EQ(found.tasks().atTarget, 0u);
  EXPECT_EQ(found.tasks().predictedBelow, 1u);
}

TEST_F(Survey, BelievesWhatIsMeasuredOfATaskThatIsDegraded) {
  const AllocationId allocation = run(1, watched(0, false));
  tell(violation(allocation, Cause::Kind::kBackground));
  ClusterSurvey found = survey();
  EXPECT_EQ(found.tasks().measuredBelow, 1u);
  EXPECT_DOUBLE_EQ(found.tasks().now, 0.5);
  EXPECT_EQ(found.lasting(), 1u);
  EXPECT_EQ(found.ended(), 0u);
  EXPECT_EQ(found.applications().back().degraded, 1u);
  tell(over(allocation));
  found = survey();
  EXPECT_EQ(found.tasks().atTarget, 1u);
  EXPECT_EQ(found.lasting(), 0u);
  EXPECT_EQ(found.ended(), 1u) << "its steps are not undone yet";
}

TEST_F(Survey, LeavesTasksThatDoNotRunOutOfWhatIsPromised) {
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  master.place(agent, commit);
  const ClusterSurvey found = survey();
  EXPECT_EQ(found.tasks().all(), 0u);
  EXPECT_EQ(found.applications().back().tasks, 1u) << "it presses all the same, as placement sees it";
}

TEST_F(Survey, SetsDeclaredBesideMeasured) {
  const AllocationId measured = run(1, of("sort", tarcil::causing({{Resource::kDiskBandwidth, 20}})), 0);
  run(2, of("sort", tarcil::causing({{Resource::kDiskBandwidth, 40}})), 1);
  TaskPressure pressure{measured, {}, {}};
  pressure.caused[kDisk] = 70;
  pressure.measured.set(kDisk);
  master.handle(PressureReported{monitor, {{"a", {}, {}, {pressure}}}});
  const ClusterSurvey found = survey();
  const ClusterSurvey::OfApplication& sort = found.applications().front();
  EXPECT_EQ(sort.name, "sort");
  EXPECT_EQ(sort.tasks, 2u);
  EXPECT_EQ(sort.declared[kDisk], 60u);
  EXPECT_EQ(sort.measured[kDisk], 70u);
  EXPECT_EQ(sort.measuredTasks[kDisk], 1u);
  EXPECT_EQ(sort.measuredTasks[kLlc], 0u);
}

TEST_F(Survey, CountsUnitsByTheRuleOfThePage) {
  run(1, of("a", {}, 3), 0);
  run(2, of("b", {}, 1), 0);
  run(3, of("c", {}, 1), 1);
  const ClusterSurvey found = survey();
  EXPECT_EQ(found.unitsUsed(), 5u);
  EXPECT_EQ(found.unitsAlone(), 12u);
}

TEST_F(Survey, NamesTheApplicationsWithTheMostTasksAndCountsTheOthersAsOne) {
  int job = 0;
  run(++job, of("few", {}), 0);
  run(++job, of("many", {}), 0);
  run(++job, of("many", {}), 0);
  run(++job, of("some", {}), 0);
  run(++job, of("some", {}), 1);
  run(++job, spec(), 1);
  EXPECT_THAT(namesOf(survey()), ElementsAre("many:2", "some:2", "few:1", ":1"));
  EXPECT_THAT(namesOf(survey({.applications = 1})), ElementsAre("many:2", ":4"));
}

TEST_F(Survey, NamesNoMoreThanSoManyApplicationsSinceTheStart) {
  named = NamedApplications(2);
  run(1, of("first", {}), 0);
  run(2, of("second", {}), 0);
  EXPECT_THAT(namesOf(survey()), ElementsAre("first:1", "second:1", ":0"));
  run(3, of("third", {}), 1);
  run(4, of("third", {}), 1);
  EXPECT_THAT(namesOf(survey()), ElementsAre("first:1", "second:1", ":2"))
      << "with the most tasks, and one name too many";
}

TEST_F(Survey, RemembersABoundedNumberOfApplicationsMeanwhile) {
  for (int job = 1; job <= 4; ++job) run(job, of("app-" + std::to_string(job), {}), 0);
  run(5, of("app-4", {}), 1);
  EXPECT_THAT(namesOf(survey({.candidates = 2})), ElementsAre("app-1:1", "app-2:1", ":3"));
}

TEST_F(Survey, ListsNoServersWhereThereAreTooMany) {
  run(1, of("loud", tarcil::causing({{Resource::kLlc, 45}})), 0);
  ClusterSurvey found = survey({.servers = 2});
  EXPECT_EQ(found.unlisted(), 0u);
  EXPECT_THAT(found.servers(), SizeIs(2));
  found = survey({.servers = 1});
  EXPECT_THAT(found.servers(), IsEmpty());
  EXPECT_EQ(found.unlisted(), 2u);
  EXPECT_EQ(found.resources()[kLlc].contention, 45) << "all of them count";
}

TEST_F(Survey, KnowsNothingOfServersThatAreRemoved) {
  master.detach(monitor);
  master.pass(std::chrono::hours(1));
  master.steer("b", ServerChange::kRemove);
  const ClusterSurvey found = survey();
  ASSERT_THAT(found.servers(), SizeIs(1));
  EXPECT_EQ(found.servers()[0].name, "a");
}

// Each step is bounded: this is what keeps others from waiting.
TEST_F(Survey, LooksAtSoManyServersAndTasksInAStep) {
  std::vector<ServerFacts> more;
  for (int i = 0; i < 98; ++i) more.push_back(serverFacts("more-" + std::to_string(i), 4));
  master.attachMonitor("n", more);
  run(1, of("a", {}), 0);
  run(2, of("b", {}), 0);
  ClusterSurvey found(named);
  size_t steps = 1;
  while (!master.logic().goOn(found, 10)) ++steps;
  // A hundred servers to be counted, and a hundred with two tasks to be looked at; one step sees that all are
  // counted.
  EXPECT_GE(steps, 20u);
  EXPECT_LE(steps, 22u);
  EXPECT_THAT(found.servers(), SizeIs(100));
}

TEST_F(Survey, BearsThatServersAndTasksComeInBetween) {
  run(1, of("a", {}), 0);
  ClusterSurvey found(named, {.servers = 2});
  EXPECT_FALSE(master.logic().goOn(found, 1));
  master.attachMonitor("n", {serverFacts("c", 4)});
  EXPECT_FALSE(master.logic().goOn(found, 2));
  run(2, of("b", {}), 1);
  master.attachMonitor("o", {serverFacts("d", 4)});
  while (!master.logic().goOn(found, 1)) continue;
  EXPECT_EQ(found.unitsUsed(), 2u);
  EXPECT_LE(found.servers().size(), 2u);
}

TEST_F(Survey, ViolationsAreCountedByTheirLikeliestCause) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false), 1);
  tell(violation(first, Cause::Kind::kNeighbour));
  tell(violation(first, Cause::Kind::kDisk));  // the same one, better known
  tell(violation(second, Cause::Kind::kDisk));
  tell(over(second));
  tell(violation(second, Cause::Kind::kDisk));
  const ViolationCounts counts = master.logic().load().violations;
  EXPECT_EQ(counts[static_cast<size_t>(Cause::Kind::kNeighbour)], 1u);
  EXPECT_EQ(counts[static_cast<size_t>(Cause::Kind::kDisk)], 2u);
}

}  // namespace tarcil::cluster_survey_test
