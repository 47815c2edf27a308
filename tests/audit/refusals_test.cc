#include "audit/logic/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::refusals_test {

using namespace audit;
using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr MonotonicTime kNow{std::chrono::hours(1)};

Entry refusal(const std::string& user, const std::string& outcome = "Denied") {
  return {.by = {.user = user}, .action = "refused", .object = "change users", .outcome = outcome};
}

TEST(Refusals, OfAKindAreWrittenOnceASecondAndTheOthersCounted) {
  Refusals refusals;
  EXPECT_EQ(refusals.take(refusal("ann"), kNow), refusal("ann"));
  for (int i = 0; i < 999; ++i) EXPECT_EQ(refusals.take(refusal("ann"), kNow + 1ms), std::nullopt);
  EXPECT_THAT(refusals.takeDue(kNow + 999ms), IsEmpty());
  EXPECT_EQ(refusals.nextDue(), kNow + 1s);
  const auto due = refusals.takeDue(kNow + 1s);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].count, 999u);
  EXPECT_EQ(refusals.nextDue(), std::nullopt);
  EXPECT_NE(refusals.take(refusal("ann"), kNow + 1s), std::nullopt);
}

TEST(Refusals, OfOthersForOtherReasonsAreWrittenBeside) {
  Refusals refusals;
  EXPECT_NE(refusals.take(refusal("ann"), kNow), std::nullopt);
  EXPECT_NE(refusals.take(refusal("bob"), kNow), std::nullopt);
  EXPECT_NE(refusals.take(refusal("ann", "invalid"), kNow), std::nullopt);
}

TEST(Refusals, BeyondABoundAreCountedAsOne) {
  Refusals refusals;
  size_t written = 0;
  for (size_t i = 0; i < 10 * Refusals::kMaxKinds; ++i)
    written += refusals.take(refusal("user" + std::to_string(i)), kNow) ? 1 : 0;
  EXPECT_EQ(written, Refusals::kMaxKinds);
  const auto due = refusals.takeDue(kNow + 1s);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].count, 9 * Refusals::kMaxKinds);
}

// Whoever floods, in whatever pattern: the counts add up to what came, and what is written is bounded by the
// seconds.
RC_GTEST_PROP(Refusals, LoseNoneAndWriteFew, ()) {
  Refusals refusals;
  MonotonicTime now = kNow;
  uint64_t came = 0, told = 0, entries = 0;
  const auto note = [&](const Entry& entry) {
    told += entry.count;
    ++entries;
  };
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 400));
  for (const int step : steps) {
    now += std::chrono::milliseconds(step);
    for (const Entry& entry : refusals.takeDue(now)) note(entry);
    ++came;
    if (const auto entry = refusals.take(refusal(step % 2 == 0 ? "ann" : "bob"), now)) note(*entry);
  }
  for (const Entry& entry : refusals.takeDue(now + 1s)) note(entry);
  RC_ASSERT(told == came);
  const auto seconds = static_cast<uint64_t>((now - kNow) / Duration(1s)) + 2;
  RC_ASSERT(entries <= 4 * seconds);
}

}  // namespace tarcil::refusals_test
