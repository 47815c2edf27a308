#include "lsh/admission.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/model/profile.h"

namespace tarcil::admission_test {

using std::chrono::hours;
using std::chrono::seconds;

constexpr MonotonicTime kStart{seconds(1'000)};
constexpr uint8_t kQuiet = 10, kNoisy = 90;

Vacancy feeling(uint8_t contention, uint16_t free, uint8_t slack = Vacancy::kUnbounded) {
  Vacancy vacancy;
  vacancy.contention.fill(contention);
  vacancy.slack.fill(slack);
  vacancy.free = vacancy.rus = free;
  vacancy.usable = true;
  return vacancy;
}

// A quiet server of four units.
Vacancy ofFour(uint16_t free) {
  Vacancy vacancy = feeling(kQuiet, free);
  vacancy.rus = 4;
  return vacancy;
}

// A job that causes and tolerates so much on each resource.
Newcomer aJob(uint8_t caused, double factor = 1, int margin = 0, uint8_t tolerated = 50) {
  Profile profile;
  profile.caused.fill(caused);
  profile.tolerated.fill(tolerated);
  Judging judging;
  judging.margin = margin;
  return newcomer(viewOn(profile, fullShare(), factor), judging, 1);
}

// Server 0 is quiet, server 1 noisy, each with some free units.
class Admissions : public testing::Test {
 protected:
  void servers(uint16_t quiet, uint16_t noisy, uint8_t slack = Vacancy::kUnbounded) {
    index_.update(0, feeling(kQuiet, quiet, slack), now_);
    index_.update(1, feeling(kNoisy, noisy, slack), now_);
    while (index_.step(10)) continue;
  }

  // So many units come free on the quiet server in each of the next intervals, and are taken again.
  void history(int intervals, uint16_t units) {
    for (int i = 0; i < intervals; ++i) {
      const auto free = static_cast<uint16_t>(index_.buckets()[*index_.bucketOf(0)].free());
      index_.update(0, feeling(kQuiet, free + units), now_);
      index_.update(0, feeling(kQuiet, free), now_);
      now_ += seconds(20);
    }
    index_.advance(now_);
  }

  Admission ask(const Wish& wish, uint32_t rus = 1) {
    return admit(index_, {.newcomers = {&job_, 1}, .least = 0.95, .rus = rus}, wish, options_, matching_);
  }

  MonotonicTime now_ = kStart;
  BucketIndex index_{BucketOptions{}};
  Newcomer job_ = aJob(0);
  AdmissionOptions options_;
  Matching matching_;
};

TEST_F(Admissions, CountWhatIsFreeInMatchingBuckets) {
  servers(6, 2);
  const Admission admission = ask({.slots = 4});
  EXPECT_EQ(admission.verdict, Admit::kPlace);
  EXPECT_DOUBLE_EQ(admission.slots, 6);
  EXPECT_DOUBLE_EQ(admission.p, 0.75);
  EXPECT_EQ(matching_.masks[*index_.bucketOf(0)], UINT32_MAX);
  EXPECT_EQ(matching_.masks[*index_.bucketOf(1)], 0u);
}

TEST_F(Admissions, AskForClearlyMoreThanIsNeeded) {
  servers(5, 9);
  EXPECT_EQ(ask({.slots = 4}).verdict, Admit::kPlace);
  EXPECT_EQ(ask({.slots = 5}).verdict, Admit::kQueue);
  options_.headroom = 0;
  EXPECT_EQ(ask({.slots = 5}).verdict, Admit::kPlace);
}

TEST_F(Admissions, LeaveToOthersWhatTheyWantFirst) {
  servers(10, 0);
  EXPECT_EQ(ask({.slots = 4, .ahead = 4}).verdict, Admit::kPlace);
  EXPECT_EQ(ask({.slots = 4, .ahead = 5}).verdict, Admit::kQueue);
}

TEST_F(Admissions, JudgeAMarginAndAPlatformAsSlotsAreJudged) {
  servers(6, 2);
  job_ = aJob(0, 0.9);
  EXPECT_EQ(ask({}).slots, 0);
  job_ = aJob(0, 1, 9, 15);  // 10 and 9 exceed 15 by 4: S = 0.96
  EXPECT_EQ(ask({}).slots, 6);
  job_ = aJob(0, 1, 10, 15);
  EXPECT_EQ(ask({}).slots, 0);
}

TEST_F(Admissions, CountOnlyWhatResidentsBear) {
  servers(6, 0, Vacancy::kNoSlack + 12);
  job_ = aJob(12);
  EXPECT_DOUBLE_EQ(ask({}).slots, 6);
  job_ = aJob(20);
  EXPECT_DOUBLE_EQ(ask({}).slots, 0);
}

TEST_F(Admissions, CountSlotsOfSeveralUnits) {
  servers(9, 0);
  EXPECT_DOUBLE_EQ(ask({}, 4).slots, 2);
  EXPECT_DOUBLE_EQ(ask({}, 16).slots, 0);
}

TEST_F(Admissions, OfAnEmptyIndexQueue) {
  const Admission admission = ask({});
  EXPECT_EQ(admission.verdict, Admit::kQueue);
  EXPECT_EQ(admission.wait.basis, WaitEstimate::Basis::kTooYoung);
}

TEST_F(Admissions, DoNotGuessAWaitThatTheHistoryDoesNotShow) {
  servers(0, 9);
  history(5, 3);
  const Admission admission = ask({});
  EXPECT_EQ(admission.verdict, Admit::kQueue);
  EXPECT_EQ(admission.wait.basis, WaitEstimate::Basis::kTooYoung);
  EXPECT_EQ(admission.bound, std::nullopt);
  // The job's own bound holds all the same.
  EXPECT_EQ(ask({.maxWait = seconds(30)}).bound, seconds(30));
  EXPECT_EQ(ask({.maxWait = seconds(30)}).verdict, Admit::kQueue);
}

TEST_F(Admissions, EstimateTheWaitFromMatchingBuckets) {
  servers(0, 9);
  history(360, 3);
  // Eight with the headroom are ten, which need three intervals and a third.
  const Admission admission = ask({.slots = 8});
  EXPECT_EQ(admission.verdict, Admit::kQueue);
  ASSERT_EQ(admission.wait.basis, WaitEstimate::Basis::kHistory);
  EXPECT_NEAR(static_cast<double>(admission.wait.mean.count()), 67e6, 7e6);
  EXPECT_EQ(*admission.bound, admission.wait.bound);
  EXPECT_LE(admission.wait.likely, admission.wait.bound);
}

TEST_F(Admissions, EstimateTwiceTheWaitForTwiceTheSlots) {
  servers(0, 9);
  history(360, 3);
  const double one = static_cast<double>(ask({.slots = 80}).wait.mean.count());
  EXPECT_NEAR(static_cast<double>(ask({.slots = 80, .ahead = 72.8}).wait.mean.count()), 2 * one, 0.1 * one);
}

TEST_F(Admissions, PlaceOnTheBestThereIsWhereTheWaitExceedsTheBound) {
  servers(0, 9);
  history(360, 3);
  EXPECT_EQ(ask({.slots = 8, .maxWait = seconds(10)}).verdict, Admit::kBestThereIs);
  EXPECT_EQ(ask({.slots = 8, .maxWait = seconds(300)}).verdict, Admit::kQueue);
  const Admission beyond = ask({.slots = 10'000, .maxWait = hours(2)});
  EXPECT_EQ(beyond.wait.basis, WaitEstimate::Basis::kBeyondHistory);
  EXPECT_EQ(beyond.verdict, Admit::kBestThereIs);
}

TEST_F(Admissions, TakeNoAccountOfWhatComesIntoOtherBuckets) {
  servers(0, 0);
  history(360, 3);
  job_ = aJob(0, 1, 0, 0);  // the quiet server does not match either
  EXPECT_EQ(ask({}).wait.basis, WaitEstimate::Basis::kTooFew);
}

// Four units come free one by one and are taken before they make a slot of four, but in every
// fourth interval.
TEST_F(Admissions, EstimateTheWaitForLargeSlotsByHowOftenSuchOnesCame) {
  servers(0, 0);
  for (int i = 0; i < 80; ++i) {
    for (const uint16_t free : {3, 0, 3, 0}) index_.update(0, ofFour(free), now_);
    if (i % 4 == 0) index_.update(0, ofFour(4), now_);
    index_.update(0, ofFour(0), now_);
    now_ += seconds(20);
  }
  index_.advance(now_);
  const WaitEstimate narrow = ask({.slots = 6}).wait, wide = ask({.slots = 6}, 4).wait;
  ASSERT_EQ(narrow.basis, WaitEstimate::Basis::kHistory);
  ASSERT_EQ(wide.basis, WaitEstimate::Basis::kHistory);
  // 8 slots with the headroom: seven units come in an interval on the average, a whole server in four.
  EXPECT_NEAR(wide.mean / seconds(20), 8 * 4, 6);
  EXPECT_LT(narrow.mean / seconds(20), 3);
}

TEST_F(Admissions, DoNotGuessWhenSlotsComeThatNoServerHasRoomFor) {
  servers(0, 0);
  history(100, 4);
  EXPECT_EQ(ask({.slots = 1}, 16).wait.basis, WaitEstimate::Basis::kTooFew);
}

}  // namespace tarcil::admission_test
