#include "master/logic/queue/equivalence_class.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/master/master_harness.h"

namespace tarcil::master::equivalence_class_test {

JobRecord record(
    int number, const std::function<void(JobSpec&)>& change = [](JobSpec&) {}) {
  JobRecord job = newJob(number, spec(4)).newJob->record;
  change(job.spec);
  return job;
}

TEST(EquivalenceClasses, IsOneWhateverDoesNotMatterForSlots) {
  const EquivalenceClass equivalenceClass = equivalenceClassOf(record(1));
  EXPECT_EQ(equivalenceClassOf(record(2)), equivalenceClass);
  EXPECT_EQ(equivalenceClassOf(record(3, [](JobSpec& job) { job.name = "other", job.command = {"false"}; })),
            equivalenceClass);
  EXPECT_EQ(equivalenceClassOf(record(4, [](JobSpec& job) { job.tasks = 9, job.priority = 90; })),
            equivalenceClass);
}

TEST(EquivalenceClasses, IsAnotherWhereverSlotsMayDiffer) {
  const std::vector<std::function<void(JobSpec&)>> changes = {
      [](JobSpec& job) { job.profile.caused[0] = 7; },
      [](JobSpec& job) { job.profile.tolerated[0] = 7; },
      [](JobSpec& job) {
        job.profile.platforms = {{"p", 0.5}};
      },
      [](JobSpec& job) { job.rusPerTask = 2; },
      [](JobSpec& job) { job.target = 0.5; },
      [](JobSpec& job) { job.confidence = 0.5; },
      [](JobSpec& job) { job.maxWait = Duration(7); },
      [](JobSpec& job) { job.protectNeighbours = false; },
      [](JobSpec& job) { job.policy = Policy::kRandom; },
      [](JobSpec& job) {
        job.extras = {{"gpus", 1}};
      },
      [](JobSpec& job) { job.schedule = Schedule::kGang; },
      [](JobSpec& job) { job.schedule = Schedule::kGang, job.tasks = 9; },
      [](JobSpec& job) { job.placement.pack = Domain::kRack; },
      [](JobSpec& job) { job.placement.prefer = {"s"}; },
      [](JobSpec& job) {
        job.placement.constraints = {{"gpu", Constraint::Operator::kExists, {}}};
      },
      [](JobSpec& job) { job.placement.spread = Domain::kServer; },
  };
  std::set<EquivalenceClass> classes{equivalenceClassOf(record(1))};
  for (const auto& change : changes) classes.insert(equivalenceClassOf(record(1, change)));
  EXPECT_EQ(classes.size(), changes.size() + 1);
}

TEST(EquivalenceClasses, OfTasksThatAreSpreadIsTheJobsOwn) {
  const auto spread = [](JobSpec& job) { job.placement.spread = Domain::kRack; };
  EXPECT_NE(equivalenceClassOf(record(1, spread)), equivalenceClassOf(record(2, spread)));
}

}  // namespace tarcil::master::equivalence_class_test
