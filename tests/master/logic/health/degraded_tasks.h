// A cluster with tasks that perform below what their jobs expect.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/master/master_harness.h"

namespace tarcil::master {

// Servers a and b of four units each; the job's task runs on a.
struct DegradedTasks : testing::Test {
  explicit DegradedTasks(MasterOptions options = {}) : master(options) {}

  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});
  SessionId agent = master.attachAgent("x");

  AllocationId run(int number, const JobSpec& spec, ServerId server = 0, const std::string& user = "alice") {
    Commit commit = newJob(number, spec);
    commit.newJob->record.user = user;
    commit.claims = {claim(0, server, spec.rusPerTask)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  static JobSpec watched(uint32_t moreRus, bool move, uint32_t rus = 1) {
    JobSpec job = spec(1, rus);
    job.performance = PerformanceGoal{};
    job.adjust = {moreRus, move};
    return job;
  }
  static Violation violation(AllocationId allocation, Cause::Kind kind) {
    Violation violation;
    violation.allocation = allocation;
    violation.expected = 100;
    violation.measured = 50;
    violation.causes = {{kind, std::nullopt, 0, 1, "so it seems"}};
    return violation;
  }
  static Violation over(AllocationId allocation) {
    Violation violation;
    violation.allocation = allocation;
    violation.over = true;
    return violation;
  }
  std::vector<Action> tell(const Violation& violation) {
    return master.handle(ViolationsReported{monitor, {violation}});
  }
  std::vector<Action> answer(const ResizeTask& resize, Status status = {}) {
    return master.handle(TaskResized{resize.session, resize.allocation, resize.rus, std::move(status)});
  }
  // The monitor's connection ends, and it comes back with the task on server a.
  std::vector<Action> reattach(AllocationId allocation) {
    master.detach(monitor);
    monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{allocation, "a"}});
    return master.lastActions();
  }
  ServerView view(const std::string& server) { return *master.logic().server(server); }
  std::vector<std::string> steps(int number) {
    std::vector<std::string> texts;
    for (const AdjustingStep& step : master.job(number).steps) texts.push_back(step.text);
    return texts;
  }
};

// A gang that has waited for so long that server a is reserved for it; b takes no tasks.
struct BesideReservation : DegradedTasks {
  BesideReservation() : DegradedTasks(MasterOptions{.reservationDelay = std::chrono::seconds(10)}) {}

  AllocationId task = run(1, watched(0, true), 1);

  void reserveBothServers() {
    run(2, spec(1, 3));
    JobSpec gang = spec(2, 2);
    gang.schedule = Schedule::kGang;
    Commit waiting = newJob(3, gang);
    waiting.newJob->record.submitted = master.now().wall;
    waiting.explanation.wanted = 2;
    master.commit(agent, waiting);
    master.pass(std::chrono::seconds(20));
    master.handle(SpaceMeasured{UINT64_MAX});
    ASSERT_THAT(master.queueTold().reserved, testing::ElementsAre(0u));
  }
};

}  // namespace tarcil::master
