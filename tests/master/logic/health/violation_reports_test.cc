// What monitors report of tasks that perform below what their jobs expect.
#include <cmath>
#include <limits>
#include <utility>

#include "tests/master/logic/health/degraded_tasks.h"

namespace tarcil::master::violation_reports_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct ViolationReports : DegradedTasks {};

TEST_F(ViolationReports, ShowWhoSuffersAndFromWhom) {
  const AllocationId victim = run(1, watched(0, false)), offender = run(2, spec());
  Violation told = violation(victim, Cause::Kind::kNeighbour);
  told.causes.front().neighbour = offender;
  told.causes.front().resource = Resource::kLlc;
  tell(told);
  ASSERT_THAT(master.job(1).violations, SizeIs(1));
  const TaskViolation shown = master.job(1).violations.front();
  EXPECT_EQ(shown.violation, told);
  EXPECT_EQ(shown.server, "a");
  EXPECT_THAT(shown.neighbours, ElementsAre(HasSubstr("task 0 of job (job 2)")));
  EXPECT_EQ(view("a").violations, master.job(1).violations);
  EXPECT_THAT(view("b").violations, IsEmpty());
  tell(over(victim));
  EXPECT_THAT(master.job(1).violations, IsEmpty());
  EXPECT_THAT(view("a").violations, IsEmpty());
}

TEST_F(ViolationReports, AreIgnoredWhereTheTaskIsOnAnothersServer) {
  const AllocationId task = run(1, watched(0, true));
  const SessionId other = master.attachMonitor("n", {serverFacts("c", 4)});
  master.handle(ViolationsReported{other, {violation(task, Cause::Kind::kDisk)}});
  EXPECT_THAT(master.job(1).violations, IsEmpty());
  EXPECT_FALSE(view("a").autoCordoned);
  tell(violation(task + 1000, Cause::Kind::kDisk));
  EXPECT_EQ(master.logic().load().isDegraded, 0u);
}

TEST_F(ViolationReports, AreCutBetweenCharacters) {
  const AllocationId task = run(1, watched(0, false));
  Violation told = violation(task, Cause::Kind::kDisk);
  told.causes.front().evidence = std::string(255, 'x') + "\u00e9" + std::string(9, 'y');
  tell(told);
  EXPECT_EQ(master.job(1).violations.front().violation.causes.front().evidence, std::string(255, 'x'));
}

TEST_F(ViolationReports, WithAbsurdNumbersLeadToNoAbsurdText) {
  const AllocationId task = run(1, watched(0, false));
  Violation absurd = violation(task, Cause::Kind::kNetwork);
  absurd.expected = 1e-300;
  absurd.measured = 1e300;
  tell(absurd);
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("performs at 100% of what is expected")));
}

TEST_F(ViolationReports, WhoseNumbersMakeNoSenseAreIgnored) {
  const AllocationId task = run(1, watched(0, true));
  const double none = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const auto& [expected, measured] : {std::pair(none, 1.0),
                                           {1.0, none},
                                           {infinite, 1.0},
                                           {1.0, infinite},
                                           {0.0, 0.0},
                                           {-1.0, 0.0},
                                           {1.0, -1.0}}) {
    Violation absurd = violation(task, Cause::Kind::kDisk);
    absurd.expected = expected;
    absurd.measured = measured;
    EXPECT_THAT(tell(absurd), IsEmpty());
    EXPECT_THAT(master.job(1).violations, IsEmpty()) << measured << " of " << expected;
  }
  EXPECT_FALSE(view("a").autoCordoned);
  Violation weighed = violation(task, Cause::Kind::kDisk);
  for (const double weight : {none, -0.1, 1.1}) {
    weighed.causes.push_back({Cause::Kind::kNetwork, std::nullopt, 0, weight, "nobody knows"});
  }
  tell(weighed);
  EXPECT_THAT(master.job(1).violations.front().violation.causes, SizeIs(1));
}

// --- What tasks reach

std::vector<std::optional<Reached>> reachedOn(const ServerView& server) {
  std::vector<std::optional<Reached>> all;
  for (const ServerView::Task& task : server.tasks) all.push_back(task.performance);
  return all;
}

TEST_F(ViolationReports, WhatTasksReachIsShownUntilTheyEnd) {
  const AllocationId task = run(1, watched(0, false));
  EXPECT_THAT(reachedOn(view("a")), ElementsAre(std::nullopt));
  master.handle(PerformanceReported{monitor, {{task, {100, 97}}}});
  master.handle(PerformanceReported{monitor, {{task, {100, 103}}}});
  EXPECT_THAT(reachedOn(view("a")), ElementsAre(Reached{100, 103}));
  tell(violation(task, Cause::Kind::kDisk));
  EXPECT_THAT(reachedOn(view("a")), ElementsAre(Reached{100, 50})) << "as measured last";
  master.ended(monitor, task, exitedWith(0));
  const AllocationId next = run(2, watched(0, false), 1);
  master.handle(PerformanceReported{monitor, {{task, {100, 97}}}});
  EXPECT_NE(next, task);
  EXPECT_THAT(reachedOn(view("b")), ElementsAre(std::nullopt));
}

TEST_F(ViolationReports, WhatTasksReachIsIgnoredOfOthersAndWhereItMakesNoSense) {
  const AllocationId task = run(1, watched(0, true));
  const SessionId other = master.attachMonitor("n", {serverFacts("c", 4)});
  master.handle(PerformanceReported{other, {{task, {100, 97}}}});
  master.handle(PerformanceReported{
      monitor, {{task, {0, 97}}, {task, {100, -1}}, {task, {100, std::nan("")}}, {task + 1000, {100, 97}}}});
  EXPECT_THAT(reachedOn(view("a")), ElementsAre(std::nullopt));
}

}  // namespace tarcil::master::violation_reports_test
