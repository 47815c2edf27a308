#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "tests/support/builders.h"

namespace tarcil::ever_feasible_test {

using testing::AnyOf;

JobSpec constrained(std::initializer_list<const char*> constraints) {
  JobSpec spec = aJob(1);
  for (const char* text : constraints) spec.placement.constraints.push_back(*parseConstraint(text));
  return spec;
}

JobSpec aGang(uint32_t tasks) {
  JobSpec spec = aJob(tasks);
  spec.schedule = Schedule::kGang;
  return spec;
}

std::string problem(const ClusterState& state, const JobSpec& spec) {
  const Status status = everFeasible(state, spec);
  return status.ok() ? "" : status.error().message;
}

TEST(EverFeasible, CountsServersThatAreDownOrFull) {
  auto state = aCluster({aServer("a").rus(1).down(), aServer("b").rus(3).holding({}, 3)});
  EXPECT_EQ(problem(state, aJob(4)), "");
}

TEST(EverFeasible, LeavesOutServersThatWereRemoved) {
  auto state = aCluster({aServer("a").rus(1).platform("old").removed(), aServer("b").rus(3).platform("new")});
  EXPECT_EQ(problem(state, aGang(3)), "");
  EXPECT_EQ(
      problem(state, aGang(4)),
      "needs 4 units at once, the servers that suit it have 3 for it: set tasks (a gang starts at once) "
      "to at most 3, or leave schedule: gang out");
  EXPECT_EQ(problem(state, constrained({"server = a"})),
            "no server meets the constraint server = a: for server the cluster has b");
  EXPECT_EQ(problem(state, constrained({"platform = old"})),
            "no server meets the constraint platform = old: for platform the cluster has new");
  EXPECT_EQ(problem(aCluster({aServer("a").removed()}), aJob(1)),
            "the cluster has no servers yet: start a monitor (tarcil serve monitor) and submit again");
}

TEST(EverFeasible, NamesTheConstraintThatNobodyMeetsAndWhatThereIs) {
  auto state = aCluster({aServer("1").platform("a"), aServer("2").platform("b")});
  EXPECT_EQ(problem(state, constrained({"rack = ''", "platform in (x)"})),
            "no server meets the constraint platform in (x): for platform the cluster has a, b");
  EXPECT_EQ(
      problem(state, constrained({"gpu = true"})),
      "no server meets the constraint gpu = true: no server has the attribute gpu; there are platform, rack, "
      "server");
}

TEST(EverFeasible, SaysWhenOnlyTheCombinationIsUnmet) {
  auto state = aCluster({aServer("1").platform("a"), aServer("2").platform("b")});
  EXPECT_EQ(problem(state, constrained({"platform = a", "server = 2"})),
            "no server meets all constraints together (platform = a; server = 2): each is met by some "
            "server; leave "
            "out the one that matters least");
}

TEST(EverFeasible, RefusesATaskLargerThanAnyServerThatSuitsIt) {
  auto state = aCluster({aServer("1").rus(8), aServer("2").rus(16).platform("other")});
  JobSpec spec = constrained({"platform = reference"});
  spec.rusPerTask = 9;
  EXPECT_EQ(problem(state, spec),
            "a task needs 9 units on one server; the largest that suits it has 8: lower rus_per_task");
}

TEST(EverFeasible, AcceptsMoreTasksThanFitAtOnceWhereTheyNeedNotStartTogether) {
  auto state = aCluster({aServer("1").rus(16), aServer("2").rus(16)});
  EXPECT_EQ(problem(state, aJob(64)), "");
}

TEST(EverFeasible, RefusesAGangThatDoesNotFit) {
  auto state = aCluster({aServer("1").rus(16), aServer("2").rus(16)});
  JobSpec spec = aGang(64);
  EXPECT_EQ(
      problem(state, spec),
      "needs 64 units at once, the servers that suit it have 32 for it: set tasks (a gang starts at once) to "
      "at most 32, or leave schedule: gang out");
  spec.tasks = 32;
  EXPECT_EQ(problem(state, spec), "");
  spec.rusPerTask = 5;
  EXPECT_EQ(
      problem(state, spec),
      "needs 160 units at once (32 tasks of 5), the servers that suit it have 30 for it: set tasks (a gang "
      "starts at once) to at most 6, or leave schedule: gang out");
}

TEST(EverFeasible, RefusesMoreMemoryOrDiskThanAServerGives) {
  auto state =
      aCluster({aServer("1").rus(16).memory(4ull << 30).disk(1 << 20), aServer("2").memory(1ull << 30)});
  JobSpec spec = aJob(1);
  spec.limits.memoryBytes = 100ull << 40;
  EXPECT_EQ(
      problem(state, spec),
      "a task asks for 100TiB of memory; a server that suits it gives at most 4GiB: lower limits.memory");
  spec.limits.memoryBytes = 4ull << 30;
  EXPECT_EQ(problem(state, spec), "");
  spec.limits.diskBytes = 2 << 20;
  EXPECT_EQ(problem(state, spec),
            "no server that suits it has room for a task, each with 1 units, 4GiB of memory, 2MiB of disk: "
            "lower one "
            "of them, or leave something out");
  spec.limits = {};
  spec.limits.memoryBytes = 3ull << 30;
  spec.schedule = Schedule::kGang;
  spec.tasks = 2;
  EXPECT_EQ(problem(state, spec),
            "places 2 tasks at once, each with 1 units, 3GiB of memory; the servers that suit it have enough "
            "for 1: "
            "set tasks (a gang starts at once) to at most 1, or leave schedule: gang out");
}

TEST(EverFeasible, AsksNothingOfMemoryThatIsNotCounted) {
  JobSpec spec = aJob(1);
  spec.limits.memoryBytes = 100ull << 40;
  EXPECT_EQ(problem(aCluster({aServer("1").memory(4ull << 30), aServer("2")}), spec), "");
}

JobSpec needing(uint32_t tasks, const Extras& extras) {
  JobSpec spec = aJob(tasks);
  spec.extras = extras;
  return spec;
}

TEST(EverFeasible, AcceptsAJobWhoseExtrasAreMerelyTaken) {
  auto state = aCluster({aServer("1").extra("gpus", 2).holding({}, 1, {{"gpus", 2}})});
  EXPECT_EQ(problem(state, needing(1, {{"gpus", 2}})), "");
}

TEST(EverFeasible, NamesTheExtrasThatNoServerHasAndWhatThereIs) {
  auto state = aCluster({aServer("1").extra("gpus", 4), aServer("2").extra("gpus", 2).extra("tapes", 1)});
  EXPECT_EQ(
      problem(state, needing(1, {{"gpu", 1}})),
      "a task needs 1 gpu, and no server that suits it has that; one has at most 4 gpus, 1 tapes: change "
      "extras.gpu or leave it out");
  EXPECT_EQ(problem(state, needing(1, {{"gpus", 5}})),
            "a task needs 5 gpus on one server; the most that one that suits it has is 4: lower extras.gpus");
  EXPECT_EQ(problem(aCluster({aServer("1")}), needing(1, {{"gpus", 1}})),
            "a task needs 1 gpus, and no server that suits it has extras: leave extras out");
}

TEST(EverFeasible, RefusesExtrasThatNoOneServerHasTogether) {
  auto state = aCluster({aServer("1").extra("gpus", 4), aServer("2").extra("tapes", 1)});
  EXPECT_EQ(problem(state, needing(1, {{"gpus", 1}, {"tapes", 1}})),
            "no server that suits it has room for a task, each with 1 units, 1 gpus, 1 tapes: lower one of "
            "them, or "
            "leave something out");
}

TEST(EverFeasible, RefusesMoreAtOnceThanThereAreExtrasFor) {
  auto state = aCluster({aServer("1").extra("gpus", 3), aServer("2").extra("gpus", 4), aServer("3")});
  JobSpec spec = needing(4, {{"gpus", 2}});
  spec.schedule = Schedule::kGang;
  EXPECT_EQ(problem(state, spec),
            "places 4 tasks at once, each with 1 units, 2 gpus; the servers that suit it have enough for 3: "
            "set tasks (a gang starts at once) to at most 3, or leave schedule: gang out");
  spec.tasks = 3;
  EXPECT_EQ(problem(state, spec), "");
}

TEST(EverFeasible, CountsOnlyWhatTheSpreadAllows) {
  auto state = aCluster({aServer("1"), aServer("2"), aServer("3").rus(1)});
  JobSpec spec = aJob(6);
  spec.placement.spread = Domain::kServer;
  spec.placement.atMost = 2;
  spec.schedule = Schedule::kGang;
  EXPECT_EQ(
      problem(state, spec),
      "places 6 tasks at once; with at most 2 on a server the servers that suit it take 5: raise "
      "placement.at_most or set tasks (a gang starts at once) to at most 5, or leave schedule: gang out");
  spec.tasks = 5;
  EXPECT_EQ(problem(state, spec), "");
}

TEST(EverFeasible, CountsDomainsOfAnyAttribute) {
  auto state = aCluster({aServer("1").attribute("zone", "a"), aServer("2").attribute("zone", "a"),
                         aServer("3").attribute("zone", "b")});
  JobSpec spec = aGang(2);
  spec.placement.spread = "zone";
  EXPECT_EQ(problem(state, spec), "");
  spec.tasks = 3;
  EXPECT_EQ(
      problem(state, spec),
      "places 3 tasks at once; with at most 1 on a zone the servers that suit it take 2: raise "
      "placement.at_most or set tasks (a gang starts at once) to at most 2, or leave schedule: gang out");
}

TEST(EverFeasible, LooksAtWhatSingleTasksRequire) {
  auto state = aCluster({aServer("1").rus(2), aServer("2").rus(4).rack("r2").down()});
  JobSpec spec = aJob(9);
  spec.placement.requireOfTask = {{3, {onServers({"2", "gone"})}}, {4, {*parseConstraint("rack = r2")}}};
  EXPECT_EQ(problem(state, spec), "");
  spec.placement.requireOfTask[7] = {onServers({"3", "gone"})};
  EXPECT_EQ(problem(state, spec),
            "task 7 requires server in (3, gone): no server meets the constraint server in (3, gone): for "
            "server the cluster has 1, 2");
  spec.placement.requireOfTask = {{3, {onServers({"1"})}}};
  spec.rusPerTask = 3;
  EXPECT_EQ(
      problem(state, spec),
      "task 3 requires server in (1): a task needs 3 units on one server; the largest that suits it has "
      "2: lower rus_per_task");
  JobSpec gang = aGang(4);
  for (TaskIndex task = 0; task < 3; ++task) gang.placement.requireOfTask[task] = {onServers({"1"})};
  EXPECT_EQ(
      problem(state, gang),
      "task 0 requires server in (1): needs 3 units at once, the servers that suit it have 2 for it: set "
      "tasks (a gang starts at once) to at most 2, or leave schedule: gang out");
}

TEST(EverFeasible, LooksAtWhatTheTasksOfAGangRequireTogether) {
  auto state = aCluster({aServer("a").rus(2).down(), aServer("b").rus(1).rack("r2"), aServer("c").rus(4)});
  JobSpec gang = aGang(4);
  gang.placement.requireOfTask = {
      {0, {onServers({"a", "b"})}}, {1, {onServers({"a"})}}, {2, {onServers({"a"})}}};
  EXPECT_EQ(problem(state, gang), "");
  gang.placement.requireOfTask[3] = {*parseConstraint("rack = r2")};
  const std::string none =
      ": it needs 1 slot there, and beside the gang's other tasks that require servers there are 0: let some "
      "of these tasks run on more servers, or leave schedule: gang out";
  EXPECT_THAT(problem(state, gang),
              AnyOf("task 0 requires server in (a, b)" + none, "task 3 requires rack = r2" + none));
  gang.schedule = Schedule::kIncremental;
  EXPECT_EQ(problem(state, gang), "");
}

TEST(EverFeasible, LooksAtTheSpreadOfWhatTheTasksOfAGangRequire) {
  auto state = aCluster({aServer("a").rack("r1"), aServer("b").rack("r1"), aServer("c").rack("r2")});
  JobSpec gang = aGang(3);
  gang.placement.spread = Domain::kRack;
  gang.placement.atMost = 2;
  gang.placement.requireOfTask = {{0, {onServers({"a"})}}, {1, {onServers({"b"})}}, {2, {onServers({"b"})}}};
  EXPECT_THAT(problem(state, gang),
              AnyOf("task 0 requires server in (a): it needs 1 slot there, and beside the gang's other tasks "
                    "that require servers there are 0, with at most 2 on a rack: let some of these tasks run "
                    "on more servers, or leave schedule: gang out",
                    "task 1 requires server in (b): 2 tasks that require this need 2 slots there, and beside "
                    "the gang's other tasks that require servers there is 1, with at most 2 on a rack: let "
                    "some of these tasks run on more servers, or leave schedule: gang out"));
  gang.placement.requireOfTask[2] = {onServers({"b", "c"})};
  EXPECT_EQ(problem(state, gang), "");
}

TEST(EverFeasible, RefusesAGangWhoseRequirementsMakeTooManyPairs) {
  std::vector<ServerBuilder> servers;
  for (uint32_t i = 0; i < 120; ++i) servers.push_back(aServer("s" + std::to_string(i)).rus(1).rack("r"));
  auto state = aCluster(servers);
  JobSpec gang = aGang(120);
  for (TaskIndex task = 0; task < 120; ++task) {
    gang.placement.requireOfTask[task] = {*parseConstraint("rack in (r, r" + std::to_string(task) + ")")};
  }
  EXPECT_EQ(problem(state, gang),
            "placement.require of this gang makes more than 10000 pairs of requirements and servers: name "
            "fewer servers, or leave schedule: gang out");
}

TEST(EverFeasible, SaysThatThereAreNoServers) {
  EXPECT_EQ(problem(ClusterState(), aJob(1)),
            "the cluster has no servers yet: start a monitor (tarcil serve monitor) and submit again");
}

TEST(Meets, AgreesWithTheAttributesThatConstraintsSee) {
  const auto server = aServer("a").platform("p").rack("r").attribute("gpu", "2").attribute("rack", "forged");
  const ServerFacts& facts = server.facts();
  const auto state = aCluster({server});
  for (const char* text : {"platform = p", "rack = r", "rack = forged", "server != a", "gpu > 1",
                           "gpu exists", "tpu exists", "tpu != 1", "gpu in (1, 2)"}) {
    const Constraint constraint = *parseConstraint(text);
    const bool isMet = meets(constraint, constraintAttributes(facts));
    EXPECT_EQ(state.meets(0, {{constraint}, {}}), isMet) << text;
    EXPECT_EQ(meets(facts, {constraint}), isMet) << text;
  }
}

}  // namespace tarcil::ever_feasible_test
