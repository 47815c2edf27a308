#include "master/logic/queue/counted_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "core/model/contention.h"
#include "master/logic/outbox.h"
#include "tests/master/master_harness.h"

namespace tarcil::master::counted_units_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr UserNumber kAnn = 0, kBob = 1;

Pressure bearing(uint8_t cache, uint8_t bandwidth = kMaxPressure) {
  Pressure tolerated = Profile{}.tolerated;
  tolerated[static_cast<size_t>(Resource::kLlc)] = cache;
  tolerated[static_cast<size_t>(Resource::kMemoryBandwidth)] = bandwidth;
  return tolerated;
}

TEST(UnitsKept, AreTheLargestShareOfTheServerThatOthersMayNotUse) {
  EXPECT_EQ(unitsKept(bearing(0), fullShare(), 16), 16u);
  EXPECT_EQ(unitsKept(bearing(1), fullShare(), 16), 16u) << "15.8";
  EXPECT_EQ(unitsKept(bearing(66), fullShare(), 16), 5u) << "a third";
  EXPECT_EQ(unitsKept(bearing(66, 33), fullShare(), 12), 8u);
  EXPECT_EQ(unitsKept(bearing(99), fullShare(), 16), 0u);
}

TEST(UnitsKept, AreFewerWhereTheServerHasMoreOfTheResource) {
  Share half = fullShare();
  half[static_cast<size_t>(Resource::kLlc)] /= 2;
  EXPECT_EQ(unitsKept(bearing(0), half, 16), 8u);
}

TEST(CountedUnits, OfOneServerKeepTheSameRoom) {
  CountedUnits counted;
  EXPECT_EQ(counted.add(kAnn, 7, 1, 6), 6);
  EXPECT_EQ(counted.add(kAnn, 7, 2, 8), 2);
  EXPECT_EQ(counted.add(kAnn, 7, 4, 0), 0) << "in the room that is kept";
  EXPECT_EQ(counted.add(kBob, 7, 1, 8), 8) << "ann keeps it from bob, and bob from ann";
  EXPECT_EQ(counted.headroomOf(kAnn), 1u);
  EXPECT_EQ(counted.add(kAnn, 8, 1, 3), 3);
  EXPECT_EQ(counted.headroomOf(kAnn), 3u);
  EXPECT_EQ(counted.remove(kAnn, 7, 2, 8), -2);
  EXPECT_EQ(counted.remove(kAnn, 7, 1, 6), -2) << "those that are left hold 4";
}

RC_GTEST_PROP(CountedUnits, AddUpToWhatIsThere, ()) {
  struct Task {
    UserNumber user;
    ServerId server;
    uint32_t held, kept;
  };
  CountedUnits counted;
  std::vector<Task> tasks;
  std::map<UserNumber, int64_t> sums;
  const auto steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    if (tasks.empty() || *rc::gen::inRange(0, 3) > 0) {
      const Task task{*rc::gen::inRange<UserNumber>(0, 2), *rc::gen::inRange<ServerId>(0, 3),
                      *rc::gen::inRange(1U, 5U), *rc::gen::inRange(0U, 9U)};
      UnitsAhead ahead(counted, task.user);
      const uint64_t expected = ahead.add(task.server, task.held, task.kept);
      const int64_t more = counted.add(task.user, task.server, task.held, task.kept);
      RC_ASSERT(static_cast<int64_t>(expected) == more);
      sums[task.user] += more;
      tasks.push_back(task);
    } else {
      const auto gone = tasks.begin() + *rc::gen::inRange<ptrdiff_t>(0, std::ssize(tasks));
      sums[gone->user] += counted.remove(gone->user, gone->server, gone->held, gone->kept);
      tasks.erase(gone);
    }
    std::map<std::pair<UserNumber, ServerId>, std::pair<uint64_t, uint64_t>> heldAndKept;
    for (const Task& task : tasks) {
      auto& [held, kept] = heldAndKept[{task.user, task.server}];
      held += task.held;
      kept = std::max<uint64_t>(kept, task.kept);
    }
    std::map<UserNumber, uint64_t> all, headroom;
    for (const auto& [of, units] : heldAndKept) {
      all[of.first] += std::max(units.first, units.second);
      headroom[of.first] += std::max(units.first, units.second) - units.first;
    }
    for (const UserNumber user : {kAnn, kBob}) {
      RC_ASSERT(sums[user] == static_cast<int64_t>(all[user]));
      RC_ASSERT(counted.headroomOf(user) == headroom[user]);
    }
  }
}

JobSpec tolerating(uint8_t cache, Protection protection = Protection::kStrict, uint32_t tasks = 1) {
  JobSpec wanted = spec(tasks);
  wanted.profile.tolerated = bearing(cache);
  wanted.protection = protection;
  return wanted;
}

// Two servers of four units.
class Headroom : public testing::Test {
 protected:
  Headroom() {
    agent_ = master_.attachAgent("x");
    monitor_ = master_.attachMonitor("m", {serverFacts("s", 4), serverFacts("t", 4)});
  }

  void bound(uint32_t units) {
    master_.change(AccountSet{{}, {.name = "physics", .bounds = {.runningUnits = units}}});
    master_.change(UserSet{{}, {.name = "alice", .account = "physics"}});
  }
  void rankBy(RankBy ranking) {
    QualitySettings settings = master_.logic().settings();
    settings.ranking = ranking;
    master_.handle(SettingsSet{1, settings});
  }
  Commit claiming(int job, const JobSpec& wanted, const std::vector<ServerId>& servers) {
    Commit commit = newJob(job, wanted);
    for (TaskIndex task = 0; task < servers.size(); ++task) {
      commit.claims.push_back(claim(task, servers[task]));
    }
    commit.explanation.wanted = wanted.tasks;
    return commit;
  }
  std::vector<Verdict> verdicts(const Commit& commit) {
    std::vector<Verdict> verdicts;
    for (const Grant& grant : master_.commit(agent_, commit).grants) verdicts.push_back(grant.verdict);
    return verdicts;
  }
  std::string reasonOf(int job) { return master_.job(job).progress.reason; }

  MasterHarness master_;
  SessionId agent_, monitor_;
};

TEST_F(Headroom, ThatIsKeptCountsAgainstTheUnitsOfAnAccount) {
  bound(4);
  const AllocationId sensitive = master_.place(agent_, claiming(1, tolerating(0), {0}));
  EXPECT_THAT(verdicts(claiming(2, spec(), {1})), ElementsAre(Verdict::kNotFree));
  EXPECT_THAT(reasonOf(2),
              HasSubstr("account physics holds the 4 units that it may, 3 of them as headroom that strict "
                        "tasks keep"));
  master_.restart();
  agent_ = master_.attachAgent("x");
  monitor_ = master_.attachMonitor("m", {serverFacts("s", 4), serverFacts("t", 4)}, {{sensitive, "s"}});
  EXPECT_THAT(verdicts(claiming(3, spec(), {1})), ElementsAre(Verdict::kNotFree)) << "as before the restart";
  master_.ended(monitor_, sensitive, exitedWith(0));
  EXPECT_THAT(verdicts(claiming(4, spec(), {1})), ElementsAre(Verdict::kGranted));
}

TEST_F(Headroom, OfOneCommitCountsTaskByTask) {
  bound(5);
  const auto given = verdicts(claiming(1, tolerating(0, Protection::kStrict, 4), {0, 0, 1, 1}));
  EXPECT_THAT(given, ElementsAre(Verdict::kGranted, Verdict::kGranted, Verdict::kGranted, Verdict::kNotFree))
      << "two keep the same room, and the third starts with the one unit that is left";
}

TEST_F(Headroom, BeyondWhatAnAccountMayHoldStartsNoGang) {
  bound(4);
  JobSpec gang = tolerating(0, Protection::kStrict, 2);
  gang.schedule = Schedule::kGang;
  Commit commit = claiming(1, gang, {0, 1});
  commit.gang = true;
  EXPECT_THAT(verdicts(commit), ElementsAre(Verdict::kNotAll, Verdict::kNotFree));
  EXPECT_THAT(reasonOf(1), HasSubstr("would count for more than the 4 units that account physics may hold"));
}

TEST_F(Headroom, OfBalancedTasksDoesNotCount) {
  bound(4);
  rankBy(RankBy::kWorth);
  master_.place(agent_, claiming(1, tolerating(0, Protection::kBalanced), {0}));
  EXPECT_THAT(verdicts(claiming(2, spec(), {1})), ElementsAre(Verdict::kGranted));
}

TEST_F(Headroom, OfBalancedTasksCountsWhereNoPriceBuysIt) {
  bound(4);
  rankBy(RankBy::kQuality);
  master_.place(agent_, claiming(1, tolerating(0, Protection::kBalanced), {0}));
  EXPECT_THAT(verdicts(claiming(2, spec(), {1})), ElementsAre(Verdict::kNotFree));
}

TEST_F(Headroom, LetsThoseComeFirstWhoKeepLess) {
  const auto ofUser = [](Commit commit, const char* user) {
    commit.newJob->record.user = user;
    return commit;
  };
  master_.place(agent_, claiming(1, tolerating(0), {0}));
  master_.place(agent_, ofUser(claiming(2, spec(2), {1, 1}), "bob"));
  const AllocationId other = master_.place(agent_, ofUser(claiming(3, spec(), {1}), "carol"));
  master_.started(monitor_, other);
  master_.commit(agent_, claiming(4, spec(), {}));
  master_.commit(agent_, ofUser(claiming(5, spec(), {}), "bob"));
  const auto offers = only<OfferJobs>(master_.ended(monitor_, other, exitedWith(0)));
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(offers[0].jobs.at(0).job, jobId(5)) << "alice holds a unit and keeps four, bob holds two";
}

}  // namespace tarcil::master::counted_units_test
