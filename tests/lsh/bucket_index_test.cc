#include "lsh/bucket_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "tests/core/model/generators.h"

namespace tarcil::bucket_index_test {

using std::chrono::seconds;

constexpr MonotonicTime kStart{seconds(1'000)};

Vacancy feeling(uint8_t contention, uint16_t free, PlatformId platform = 0) {
  Vacancy vacancy;
  vacancy.contention.fill(contention);
  vacancy.slack.fill(Vacancy::kUnbounded);
  vacancy.free = vacancy.rus = free;
  vacancy.platform = platform;
  vacancy.usable = true;
  return vacancy;
}

// Quiet and noisy servers around a mean of 50, which have buckets of their own.
constexpr uint8_t kQuiet = 10, kNoisy = 90;

class TwoSides : public testing::Test {
 protected:
  TwoSides() {
    index_.update(0, feeling(kQuiet, 4), kStart);
    index_.update(1, feeling(kNoisy, 4), kStart);
    while (index_.step(100)) continue;
    quiet_ = *index_.bucketOf(0);
    noisy_ = *index_.bucketOf(1);
  }

  // What has come into a bucket so far.
  int64_t came(BucketId bucket) {
    index_.advance(kStart + seconds(20));
    return index_.history().total(bucket);
  }

  BucketIndex index_{BucketOptions{}};
  BucketId quiet_ = 0, noisy_ = 0;
};

TEST_F(TwoSides, HaveBucketsOfTheirOwnAroundTheMean) {
  EXPECT_NE(quiet_, noisy_);
  EXPECT_EQ(index_.buckets()[quiet_].mean(), Profile::filled(kQuiet));
}

TEST_F(TwoSides, UnitsThatATaskGivesBackComeIn) {
  index_.update(0, feeling(kQuiet, 7), kStart);
  EXPECT_EQ(came(quiet_), 3);
}

TEST_F(TwoSides, MoreUnitsAreFreeThanTheFactsSay) {
  Vacancy regrown = feeling(kQuiet, 2);
  regrown.free = 9;
  index_.update(0, regrown, kStart);
  EXPECT_EQ(came(quiet_), 5);
  EXPECT_EQ(index_.buckets()[quiet_].free(), 9u);
}

TEST_F(TwoSides, UnitsThatATaskTakesDoNotGoOut) {
  index_.update(0, feeling(kQuiet, 1), kStart);
  EXPECT_EQ(came(quiet_), 0);
  EXPECT_EQ(index_.buckets()[quiet_].free(), 1u);
}

TEST_F(TwoSides, UnitsThatMoveGoOutThereAndComeInHere) {
  index_.update(0, feeling(kNoisy, 4), kStart);
  EXPECT_EQ(came(quiet_), -4);
  EXPECT_EQ(came(noisy_), 4);
}

TEST_F(TwoSides, ATaskThatEndsBringsTheWholeServerBack) {
  index_.update(0, feeling(kNoisy, 3), kStart);  // a unit taken: three units move
  index_.update(0, feeling(kQuiet, 4), kStart);  // and come back with the one
  EXPECT_EQ(came(quiet_), 1);
  EXPECT_EQ(came(noisy_), 0);
}

TEST_F(TwoSides, ServersThatComeAndGoAreNoFlow) {
  index_.update(2, feeling(kQuiet, 4), kStart);
  index_.remove(0);
  Vacancy cordoned = feeling(kNoisy, 4);
  cordoned.usable = false;
  index_.update(1, cordoned, kStart);
  EXPECT_EQ(came(quiet_), 0);
  EXPECT_EQ(came(noisy_), 0);
  EXPECT_EQ(index_.servers(), 1u);
  EXPECT_EQ(index_.bucketOf(0), std::nullopt);
  EXPECT_EQ(index_.bucketOf(1), std::nullopt);
  EXPECT_EQ(index_.free(), 4u);
}

TEST_F(TwoSides, CentringAnewIsNoFlow) {
  // Many noisy servers move the mean, and with it the bucket of a server between.
  index_.update(2, feeling(70, 5), kStart);
  const BucketId before = *index_.bucketOf(2);
  for (ServerId id = 3; id < 100; ++id) index_.update(id, feeling(kNoisy, 1), kStart);
  while (index_.step(10)) continue;
  EXPECT_NE(*index_.bucketOf(2), before);
  index_.advance(kStart + seconds(20));
  for (BucketId id = 0; id < index_.buckets().size(); ++id) EXPECT_EQ(index_.history().total(id), 0);
}

TEST(BucketIndex, FollowsTheMeanOnlyWhereItDriftsFarEnough) {
  BucketIndex index({.drift = 5});
  index.update(0, feeling(40, 1), kStart);
  while (index.step(1)) continue;
  EXPECT_EQ(index.centre(0)[0], 40 * kCentreUnit);
  index.update(0, feeling(45, 1), kStart);
  EXPECT_FALSE(index.step(1));
  EXPECT_EQ(index.centre(0)[0], 40 * kCentreUnit);
  index.update(0, feeling(46, 1), kStart);
  index.step(1);
  EXPECT_EQ(index.centre(0)[0], 46 * kCentreUnit);
}

TEST(BucketIndex, LooksAtNoMoreServersInAStepThanItMay) {
  BucketIndex index(BucketOptions{});
  for (ServerId id = 0; id < 100; ++id) index.update(id, feeling(id < 50 ? kQuiet : kNoisy, 1), kStart);
  int steps = 1;
  while (index.step(10)) ++steps;
  EXPECT_EQ(steps, 10);
}

TEST(BucketIndex, KeepsPlatformsApart) {
  BucketIndex index({.buckets = 16});
  index.update(0, feeling(40, 1, 0), kStart);
  index.update(1, feeling(40, 1, 3), kStart);
  EXPECT_EQ(index.platformOf(*index.bucketOf(0)), 0);
  EXPECT_EQ(index.platformOf(*index.bucketOf(1)), 3);
  EXPECT_EQ(index.buckets().size(), 4u * 16);
  index.update(1, feeling(40, 1, 0), kStart);
  EXPECT_EQ(index.bucketOf(1), index.bucketOf(0));
}

TEST(BucketIndex, SummarisesTheBucketsThatHaveSomething) {
  BucketIndex index({.buckets = 16});
  EXPECT_TRUE(index.summaries().empty());
  index.update(0, feeling(30, 2, 1), kStart);
  index.update(0, feeling(30, 5, 1), kStart);
  index.advance(kStart + seconds(20));
  const auto summaries = index.summaries();
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].bucket, *index.bucketOf(0));
  EXPECT_EQ(summaries[0].platform, 1);
  EXPECT_EQ(summaries[0].servers, 1u);
  EXPECT_EQ(summaries[0].free, 5u);
  EXPECT_EQ(summaries[0].mean, Profile::filled(30));
  EXPECT_DOUBLE_EQ(summaries[0].enteredPerHour, 3 * 180);
}

// --- After any history: an index built from scratch

Vacancy drawnVacancy() {
  Vacancy vacancy = feeling(0, *rc::gen::inRange<uint16_t>(0, 20), *rc::gen::inRange<PlatformId>(0, 3));
  vacancy.contention = *aPressure();
  for (uint8_t& slack : vacancy.slack) slack = *rc::gen::arbitrary<uint8_t>();
  vacancy.usable = *rc::gen::inRange(0, 8) > 0;
  return vacancy;
}

void finish(BucketIndex& index) {
  while (index.step(3)) continue;
}

bool equal(const BucketIndex& a, const BucketIndex& b, ServerId servers, size_t withFreeUnits) {
  for (ServerId id = 0; id < servers; ++id) {
    if (a.bucketOf(id) != b.bucketOf(id)) return false;
  }
  // Each server with free units is listed once, where it is.
  for (const BucketIndex* index : {&a, &b}) {
    std::set<ServerId> listed;
    for (BucketId bucket = 0; bucket < index->buckets().size(); ++bucket) {
      std::vector<ServerId> its;
      index->addWithFree(bucket, its);
      for (ServerId id : its) {
        if (index->bucketOf(id) != bucket || !listed.insert(id).second) return false;
      }
    }
    if (listed.size() != withFreeUnits) return false;
  }
  // One of them may have known a platform that is gone.
  for (size_t id = 0; id < std::max(a.buckets().size(), b.buckets().size()); ++id) {
    const Bucket none;
    const Bucket& its = id < a.buckets().size() ? a.buckets()[id] : none;
    const Bucket& others = id < b.buckets().size() ? b.buckets()[id] : none;
    if (!(its == others)) return false;
  }
  return a.servers() == b.servers() && a.free() == b.free();
}

RC_GTEST_PROP(BucketIndex, IsAfterAnyHistoryTheOneBuiltFromScratch, ()) {
  const BucketOptions options{.buckets = *rc::gen::inRange(1u, 70u), .seed = *rc::gen::arbitrary<uint64_t>()};
  constexpr ServerId kServers = 12;
  BucketIndex index(options);
  std::map<ServerId, Vacancy> now;
  MonotonicTime time = kStart;
  const int steps = *rc::gen::inRange(0, 80);
  for (int i = 0; i < steps; ++i) {
    const auto id = *rc::gen::inRange<ServerId>(0, kServers);
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        index.remove(id);
        now.erase(id);
        break;
      case 1:
        index.step(*rc::gen::inRange(0u, 6u));
        break;
      case 2:
        index.recentre();
        break;
      default:
        time += seconds(*rc::gen::inRange(0, 30));
        now[id] = drawnVacancy();
        index.update(id, now[id], time);
        if (!now[id].usable) now.erase(id);
    }
    // At any time, also amid centring anew: every server in one bucket of its platform, counts as they
    // should be.
    uint64_t free = 0, servers = 0;
    for (const Bucket& bucket : index.buckets()) {
      free += bucket.free();
      servers += bucket.servers();
    }
    for (size_t b = 0; b < index.buckets().size(); ++b) {
      RC_ASSERT(index.means()[b].contention == index.buckets()[b].mean());
      RC_ASSERT(index.means()[b].usable == (index.buckets()[b].servers() > 0));
    }
    RC_ASSERT(servers == now.size());
    RC_ASSERT(free ==
              std::accumulate(now.begin(), now.end(), uint64_t{0},
                              [](uint64_t sum, const auto& server) { return sum + server.second.free; }));
    for (const auto& [server, vacancy] : now) {
      RC_ASSERT(index.platformOf(index.bucketOf(server).value()) == vacancy.platform);
    }
  }
  finish(index);

  // With the same centres the buckets are those of the hash.
  const Hyperplanes planes(options.buckets, options.seed);
  for (const auto& [server, vacancy] : now) {
    const auto offsets = planes.offsets(index.centre(vacancy.platform));
    RC_ASSERT(*index.bucketOf(server) % options.buckets == planes.bucketOf(vacancy.contention, offsets));
  }
  // Centred on the mean of now, it is the index that has seen nothing else.
  BucketIndex fresh(options);
  for (const auto& [server, vacancy] : now) fresh.update(server, vacancy, time);
  index.recentre();
  fresh.recentre();
  finish(index);
  finish(fresh);
  const auto withFree = std::ranges::count_if(now, [](const auto& server) { return server.second.free > 0; });
  RC_ASSERT(equal(index, fresh, kServers, static_cast<size_t>(withFree)));
}

// Whatever happens, what came into all buckets together is what tasks gave back.
RC_GTEST_PROP(BucketIndex, CountsEachUnitThatIsGivenBackOnce, ()) {
  BucketIndex index({.buckets = 16, .window = std::chrono::hours(10)});
  std::map<ServerId, Vacancy> now;
  MonotonicTime time = kStart;
  int64_t back = 0;
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    time += seconds(*rc::gen::inRange(0, 60));
    const auto id = *rc::gen::inRange<ServerId>(0, 6);
    const Vacancy vacancy = drawnVacancy();
    if (const auto it = now.find(id); it != now.end() && vacancy.usable) {
      back += std::max(0, vacancy.free - it->second.free);
    }
    index.update(id, vacancy, time);
    now.erase(id);
    if (vacancy.usable) now[id] = vacancy;
    index.step(2);
  }
  index.advance(time + seconds(20));
  int64_t came = 0;
  for (BucketId id = 0; id < index.buckets().size(); ++id) came += index.history().total(id);
  RC_ASSERT(came == back);
}

}  // namespace tarcil::bucket_index_test
