#include "master/logic/queue/waiting_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "master/logic/outbox.h"
#include "master/logic/startup.h"
#include "tests/master/master_harness.h"

namespace tarcil::master::waiting_order_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Order : testing::Test {
  Order() { alice = order.numberOf("alice"), bob = order.numberOf("bob"); }

  static WallTime at(Duration time) { return WallTime(time); }
  QueueKey add(UserNumber user, int job, uint8_t priority = 50, Mode mode = Mode::kToBeTried) {
    return addAt(at(std::chrono::seconds(job)), user, job, priority, mode);
  }
  QueueKey addAt(WallTime submitted, UserNumber user, int job, uint8_t priority = 50,
                 Mode mode = Mode::kToBeTried) {
    const QueueKey key{.user = user, .priority = priority, .submitted = submitted, .job = jobId(job)};
    order.put(key, mode);
    return key;
  }
  // All jobs in order; each wants so many units.
  std::vector<JobId> listed(uint64_t units = 1) {
    std::vector<JobId> jobs;
    order.walk([&](const QueueKey& key) -> std::optional<uint64_t> {
      jobs.push_back(key.job);
      return units;
    });
    return jobs;
  }

  WaitingOrder order{10min};
  UserNumber alice, bob;
};

TEST_F(Order, HigherPrioritiesComeFirstThenOlderJobs) {
  add(alice, 1);
  add(alice, 2, 90);
  add(alice, 3);
  add(alice, 4, 10);
  EXPECT_THAT(listed(), ElementsAre(jobId(2), jobId(1), jobId(3), jobId(4)));
}

TEST_F(Order, WhoHoldsLessComesFirst) {
  add(alice, 1);
  add(bob, 2);
  order.addUnits(alice, 4);
  EXPECT_THAT(listed(), ElementsAre(jobId(2), jobId(1)));
  order.addUnits(alice, -4);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2)));
}

TEST_F(Order, WhatIsHeldCountsByShares) {
  add(alice, 1);
  add(bob, 2);
  order.addUnits(alice, 4);
  order.addUnits(bob, 3);
  order.setShares(alice, 2);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2)));
}

TEST_F(Order, JobsOfEqualUsersAlternate) {
  for (int job = 1; job <= 3; ++job) add(alice, job);
  add(bob, 11);
  add(bob, 12);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(11), jobId(2), jobId(12), jobId(3)));
}

TEST_F(Order, AUserWithThreeSharesHasThreeJobsForEachOfAnother) {
  order.setShares(alice, 3);
  for (int job = 1; job <= 6; ++job) add(alice, job);
  add(bob, 11);
  add(bob, 12);
  EXPECT_THAT(listed(),
              ElementsAre(jobId(1), jobId(11), jobId(2), jobId(3), jobId(4), jobId(12), jobId(5), jobId(6)));
}

TEST_F(Order, WhatHigherJobsOfAUserWantCountsForHisLowerOnesToo) {
  WaitingOrder steep{1h};  // one rank for priorities 50 and 51, an hour apart
  const UserNumber a = steep.numberOf("a"), b = steep.numberOf("b");
  steep.put({a, 51, 0, at(3h), jobId(1)}, Mode::kToBeTried);
  steep.put({a, 50, 0, at(2h), jobId(2)}, Mode::kToBeTried);
  steep.put({b, 50, 0, at(2h + 1s), jobId(3)}, Mode::kToBeTried);
  std::vector<JobId> jobs;
  steep.walk([&](const QueueKey& key) -> std::optional<uint64_t> {
    jobs.push_back(key.job);
    return 1;
  });
  EXPECT_THAT(jobs, ElementsAre(jobId(2), jobId(3), jobId(1)));
}

TEST_F(Order, MembersOfAnAccountShareWhatItGets) {
  order.setAccount(alice, "physics");
  order.setAccount(order.numberOf("ann"), "physics");
  for (int job = 1; job <= 3; ++job) add(alice, job);
  for (int job = 4; job <= 5; ++job) add(order.numberOf("ann"), job);
  for (int job = 11; job <= 13; ++job) add(bob, job);
  EXPECT_EQ(listed().size(), 8u);
  order.addUnits(alice, 4);
  EXPECT_THAT(listed(),
              ElementsAre(jobId(11), jobId(12), jobId(13), jobId(4), jobId(5), jobId(1), jobId(2), jobId(3)))
      << "bob comes before what an account holds, in it who holds less";
  order.addUnits(bob, 5);
  EXPECT_EQ(listed().front(), jobId(4));
}

TEST_F(Order, WhatAnAccountHoldsCountsByItsShares) {
  order.setAccount(alice, "physics");
  order.setAccount(bob, "biology");
  add(alice, 1);
  add(bob, 2);
  order.addUnits(alice, 4);
  order.addUnits(bob, 3);
  EXPECT_THAT(listed(), ElementsAre(jobId(2), jobId(1)));
  order.setSharesOfAccount("physics", 2);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2)));
  order.setShares(bob, 100);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2))) << "shares of a member count in the account alone";
}

TEST_F(Order, WhoChangesAccountsTakesAlongWhatTheyHold) {
  order.setAccount(alice, "physics");
  order.setAccount(order.numberOf("ann"), "physics");
  add(order.numberOf("ann"), 1);
  add(bob, 2);
  order.addUnits(bob, 1);
  order.addUnits(alice, 4);
  EXPECT_THAT(listed(), ElementsAre(jobId(2), jobId(1)));
  order.setAccount(alice, "");
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2)));
  order.setAccount(bob, "physics");
  order.setAccount(alice, "physics");
  EXPECT_EQ(order.unitsOf(alice), 4);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2))) << "one account now: who holds less of it";
}

TEST_F(Order, LinesThatGetNothingRise) {
  const QueueKey old = addAt(at(0s), alice, 1, 50);
  addAt(at(9min), bob, 2, 51);
  EXPECT_THAT(listed(), ElementsAre(jobId(2), jobId(1)));
  addAt(at(21min), bob, 3, 52);  // younger than what is above 1 now
  EXPECT_EQ(order.liftedPriority(old, at(25min)), 52);
  order.erase({bob, 51, 0, at(9min), jobId(2)});
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(3)));
}

TEST_F(Order, AGrantEndsTheRise) {
  const QueueKey first = addAt(at(0s), alice, 1, 50);
  addAt(at(0s), alice, 2, 50);
  addAt(at(21min), bob, 3, 51);
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2), jobId(3)));
  order.erase(first);
  order.noteGrant({alice, 50, 0, at(0s), jobId(2)}, at(22min));
  EXPECT_THAT(listed(), ElementsAre(jobId(3), jobId(2)));
}

TEST_F(Order, NothingRisesWithoutAgeing) {
  WaitingOrder flat{Duration::zero()};
  const UserNumber a = flat.numberOf("a");
  const QueueKey low{a, 1, 0, at(0s), jobId(1)}, high{a, 2, 0, at(1'000h), jobId(2)};
  flat.put(low, Mode::kToBeTried);
  flat.put(high, Mode::kToBeTried);
  EXPECT_TRUE(flat.isBefore(high, low));
  EXPECT_EQ(flat.liftedPriority(low, at(1'000h)), 1);
}

TEST_F(Order, WalksTheModesAskedFor) {
  add(alice, 1);
  add(alice, 2, 50, Mode::kResting);
  add(alice, 3, 50, Mode::kUntriable);
  std::vector<JobId> jobs;
  order.walk({Mode::kResting, Mode::kUntriable}, {}, [&](const QueueKey& key) -> std::optional<uint64_t> {
    jobs.push_back(key.job);
    return 1;
  });
  EXPECT_THAT(jobs, ElementsAre(jobId(2), jobId(3)));
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2), jobId(3)));
}

TEST_F(Order, ClassesDoNotMatterForTheOrderButMayBeLeftOut) {
  for (int job = 1; job <= 6; ++job) {
    order.put({alice, 50, static_cast<EquivalenceClass>(job % 3), at(std::chrono::seconds(job)), jobId(job)},
              job % 2 == 0 ? Mode::kToBeTried : Mode::kResting);
  }
  EXPECT_THAT(listed(), ElementsAre(jobId(1), jobId(2), jobId(3), jobId(4), jobId(5), jobId(6)));
  std::vector<JobId> jobs;
  order.walk({Mode::kToBeTried, Mode::kResting}, {{1, 100}},
             [&](const QueueKey& key) -> std::optional<uint64_t> {
               jobs.push_back(key.job);
               return 1;
             });
  EXPECT_THAT(jobs, ElementsAre(jobId(2), jobId(3), jobId(5), jobId(6)));
}

TEST_F(Order, GoesThroughAllInAnOrderThatDoesNotChange) {
  add(alice, 1);
  add(alice, 2);
  add(bob, 3);
  std::map<JobId, int> met;
  QueueKey last;
  for (int i = 0; i < 3; ++i) {
    for (const QueueKey& key : order.behind(last, Mode::kToBeTried, 1)) {
      ++met[key.job];
      last = key;
    }
  }
  EXPECT_EQ(met.size(), 3u);
  EXPECT_THAT(order.behind(last, Mode::kResting, 1), IsEmpty());
}

// --- What must hold whatever happens

// A cluster of one unit for each grant: at each step some jobs come, and the first in order gets what it
// wants; it is done in time.
struct Stream {
  explicit Stream(Duration ageing) : order(ageing) {}

  void submit(const std::string& user, uint8_t priority, uint64_t units = 1) {
    const QueueKey key{
        .user = order.numberOf(user), .priority = priority, .submitted = now, .job = jobId(++jobs)};
    order.put(key, Mode::kToBeTried);
    wants[key.job] = units;
  }

  std::optional<QueueKey> grantFirst() {
    std::optional<QueueKey> first;
    order.walk([&](const QueueKey& key) -> std::optional<uint64_t> {
      first = key;
      return std::nullopt;
    });
    if (!first) return first;
    order.noteGrant(*first, now);
    order.addUnits(first->user, static_cast<int64_t>(wants[first->job]));
    order.erase(*first);
    return first;
  }

  WaitingOrder order;
  WallTime now = WallTime(1h);
  int jobs = 0;
  std::map<JobId, uint64_t> wants;
};

RC_GTEST_PROP(OrderProperty, NothingStarvesUnderAStreamOfHigherPriority, ()) {
  const auto low = *rc::gen::inRange<uint8_t>(0, 101);
  const int users = *rc::gen::inRange(1, 5);
  Stream stream(1min);
  stream.submit("patient", low);
  // One grant and one new job of the highest priority every ten seconds.
  const int most = (101 - low + 1) * 6 + 2 * users;
  for (int step = 0; step <= most; ++step) {
    stream.submit("user " + std::to_string(step % users), 100);
    if (stream.grantFirst()->job == jobId(1)) return;
    stream.now += 10s;
  }
  RC_FAIL("the job of the lowest priority got nothing");
}

RC_GTEST_PROP(OrderProperty, WhatUsersHoldComesToBeAsTheirShares, ()) {
  const auto shares = *rc::gen::container<std::vector<uint32_t>>(3, rc::gen::inRange<uint32_t>(1, 6));
  const auto units = *rc::gen::container<std::vector<uint64_t>>(3, rc::gen::inRange<uint64_t>(1, 5));
  Stream stream(Duration::zero());
  for (size_t user = 0; user < 3; ++user) {
    const std::string name = std::to_string(user);
    stream.order.setShares(stream.order.numberOf(name), shares[user]);
    for (int job = 0; job < 400; ++job) stream.submit(name, 50, units[user]);
  }
  std::vector<double> held(3);
  for (int grant = 0; grant < 200; ++grant) {
    const QueueKey key = *stream.grantFirst();
    held[key.user] += static_cast<double>(stream.wants[key.job]);
  }
  // No two differ by more than the largest single grant, for each share.
  for (size_t one = 0; one < 3; ++one) {
    for (size_t other = 0; other < 3; ++other) {
      const double difference = held[one] / shares[one] - held[other] / shares[other];
      RC_ASSERT(difference <= static_cast<double>(units[one]) / shares[one] + 1e-9);
    }
  }
}

RC_GTEST_PROP(OrderProperty, WhatAccountsHoldComesToBeAsTheirSharesHoweverManyMembersTheyHave, ()) {
  const auto shares = *rc::gen::container<std::vector<uint32_t>>(3, rc::gen::inRange<uint32_t>(1, 6));
  Stream stream(Duration::zero());
  std::map<UserNumber, size_t> accountOf;
  for (size_t account = 0; account < 3; ++account) {
    const std::string name = "account " + std::to_string(account);
    stream.order.setSharesOfAccount(name, shares[account]);
    const int members = *rc::gen::inRange(1, 4);
    for (int member = 0; member < members; ++member) {
      const std::string user = name + " member " + std::to_string(member);
      accountOf[stream.order.numberOf(user)] = account;
      stream.order.setAccount(stream.order.numberOf(user), name);
      for (int job = 0; job < 200; ++job) stream.submit(user, 50);
    }
  }
  std::vector<double> held(3);
  for (int grant = 0; grant < 200; ++grant) ++held[accountOf.at(stream.grantFirst()->user)];
  for (size_t one = 0; one < 3; ++one) {
    for (size_t other = 0; other < 3; ++other) {
      RC_ASSERT(held[one] / shares[one] - held[other] / shares[other] <= 1.0 / shares[one] + 1e-9);
    }
  }
}

RC_GTEST_PROP(OrderProperty, TheOrderOfTheListIsThatOfTheGrants, ()) {
  Stream stream(10min);
  const bool inAccounts = *rc::gen::arbitrary<bool>();
  if (inAccounts) {
    for (const char* user : {"0", "1"}) stream.order.setAccount(stream.order.numberOf(user), "physics");
  }
  const int count = *rc::gen::inRange(1, 30);
  for (int job = 0; job < count; ++job) {
    stream.submit(std::to_string(*rc::gen::inRange(0, 3)), *rc::gen::element<uint8_t>(10, 50, 90),
                  *rc::gen::inRange<uint64_t>(1, 9));
  }
  std::vector<JobId> listed, granted;
  stream.order.walk([&](const QueueKey& key) -> std::optional<uint64_t> {
    listed.push_back(key.job);
    return stream.wants[key.job];
  });
  while (const auto key = stream.grantFirst()) granted.push_back(key->job);
  RC_ASSERT(listed == granted);
}

TEST(QueueTime, GoesOnAsIfTheClockForPeopleHadNotBeenSet) {
  const Now began{MonotonicTime(1h), kHarnessBegins};
  Tables tables = tablesFrom({}, {}, began);
  std::vector<Action> actions;
  Outbox out(actions);
  const EventContext context{tables, {began.steady + 5s, began.wall - 8h}, out};
  EXPECT_EQ(queueTime(context), began.wall + 5s);
}

}  // namespace tarcil::master::waiting_order_test
