#include "agent/logic/wait_reason.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace tarcil::agent::wait_reason_test {

// A sample of which so many were acceptable and all others were dropped for this reason.
Decision sampled(uint32_t drawn, uint32_t acceptable, size_t reason) {
  Decision decision;
  decision.explanation.drawn = drawn;
  decision.explanation.acceptable = acceptable;
  decision.explanation.dropped[reason] = drawn - acceptable;
  return decision;
}

Decision sampled(uint32_t drawn, uint32_t acceptable, Dropped reason) {
  return sampled(drawn, acceptable, static_cast<size_t>(reason));
}

std::string textAfter(const Decision& decision) {
  return whyWaiting(aJob(4), 2, {.usable = 32, .free = 9}, &decision).text;
}

TEST(WaitReason, SaysWhyNoServerTakesTasks) {
  EXPECT_EQ(whyWaiting(aJob(1), 1, {.down = 2}, nullptr).text, "no server takes tasks: 2 are down");
  EXPECT_EQ(whyWaiting(aJob(1), 1, {.suitsAll = false, .down = 2, .cordoned = 1}, nullptr).text,
            "no server that suits it takes tasks: 2 are down, 1 is cordoned");
  EXPECT_EQ(whyWaiting(aJob(1), 1, {.suitsAll = false}, nullptr).text, "no server suits it");
  EXPECT_EQ(
      whyWaiting(aJob(1), 1, {.down = 1, .quarantined = 2}, nullptr).text,
      "no server takes tasks: 1 is down, 2 are quarantined, as tasks could not be started there; they are "
      "tried again later");
}

TEST(WaitReason, SaysThatAGangNeedsMoreThanIsUp) {
  JobSpec spec = aJob(16);
  spec.schedule = Schedule::kGang;
  EXPECT_EQ(whyWaiting(spec, 16, {.usable = 8, .free = 8}, nullptr).text,
            "waiting for 16 slots at once (gang); with all that are up and take tasks there are 8");
  EXPECT_EQ(whyWaiting(spec, 16, {.usable = 32, .free = 8}, nullptr).text,
            "waiting for 16 slots at once (gang); 8 are free");
}

TEST(WaitReason, NamesWhatFreeUnitsLack) {
  JobSpec spec = aJob(1);
  EXPECT_EQ(whyWaiting(spec, 1, {.usable = 32, .lacking = 9}, nullptr).text,
            "9 units are free, but none together with its share of memory and disk");
  spec.limits.memoryBytes = 4ull << 30;
  spec.extras = {{"gpus", 2}};
  EXPECT_EQ(whyWaiting(spec, 1, {.usable = 32, .lacking = 9, .suitsAll = false}, nullptr).text,
            "9 units are free on the servers that suit it, but none together with 2 gpus, 4GiB of memory");
}

TEST(WaitReason, SaysThatFreeUnitsAreTooFewForATask) {
  JobSpec spec = aJob(1);
  spec.rusPerTask = 4;
  EXPECT_EQ(whyWaiting(spec, 1, {.usable = 32, .free = 3}, nullptr).text,
            "3 of 32 units are free, a task needs 4");
}

TEST(WaitReason, NamesTheResourceThatIsTooContended) {
  Decision decision = sampled(40, 3, Dropped::kQuality);
  decision.explanation.best = {Candidate{}};
  decision.explanation.best[0].contention = pressure({{Resource::kLlc, 60}, {Resource::kTlb, 40}});
  JobSpec spec = aJob(4, tolerating({{Resource::kLlc, 30}, {Resource::kTlb, 30}}));
  EXPECT_EQ(whyWaiting(spec, 2, {.usable = 64, .free = 40}, &decision).text,
            "3 of 40 slots sampled suit it: llc is too contended on the rest");
}

TEST(WaitReason, NamesTheMarginWhereOnlyThatIsMissing) {
  Decision decision = sampled(4, 1, Dropped::kQuality);
  decision.explanation.best = {Candidate{}};
  decision.explanation.best[0].contention = pressure({{Resource::kLlc, 20}});
  decision.explanation.margin = 10;
  const JobSpec spec = aJob(4, tolerating({{Resource::kLlc, 24}}));
  EXPECT_EQ(
      whyWaiting(spec, 2, {.usable = 64, .free = 40}, &decision).text,
      "1 of 4 slots sampled suit it: llc leaves less to spare on the rest than the margin of 10, for which "
      "it waits up to its max_wait");
}

TEST(WaitReason, NamesWhatTheRestLacks) {
  EXPECT_EQ(textAfter(sampled(
                4, 2, static_cast<size_t>(Dropped::kNeighbour) + static_cast<size_t>(Resource::kLlc))),
            "2 of 4 slots sampled suit it: on the rest it would disturb others through llc");
  EXPECT_EQ(textAfter(sampled(4, 0, Dropped::kMemory)),
            "0 of 4 slots sampled suit it: the rest have less memory left than a task claims, the share of "
            "its units");
  EXPECT_EQ(textAfter(sampled(4, 0, Dropped::kSpread)),
            "0 of 4 slots sampled suit it: its spread allows no more tasks on the rest");
}

TEST(WaitReason, NamesTheServersWhereNoneHasASlot) {
  Decision decision;
  decision.explanation.dropped[static_cast<size_t>(Dropped::kConstraint)] = 3;
  EXPECT_EQ(textAfter(decision), "0 of 0 slots sampled suit it: the rest do not meet its constraints");
  decision.explanation.dropped[static_cast<size_t>(Dropped::kNotEnoughFree)] = 4;
  EXPECT_EQ(textAfter(decision),
            "0 of 0 slots sampled suit it: the rest have fewer than 1 units free on one server");
}

TEST(WaitReason, DoesNotBlameServersThatWereNeverAskedFor) {
  Decision decision = sampled(4, 1, Dropped::kQuality);
  decision.explanation.dropped[static_cast<size_t>(Dropped::kConstraint)] = 300;
  EXPECT_EQ(textAfter(decision),
            "1 of 4 slots sampled suit it: the platforms of the rest are too slow for its target");
}

TEST(WaitReason, SaysWhatASlotHasToBeWorthAsOthersWait) {
  Decision decision = sampled(135, 0, static_cast<size_t>(Dropped::kNeighbour));
  decision.explanation.price = 0.624;
  decision.explanation.waitingJobs = 14;
  decision.bestWorth = 0.41;
  EXPECT_EQ(textAfter(decision),
            "the best of 135 slots sampled is worth 41 % of its best speed to it, less what neighbours would "
            "lose; 62 % is asked, as 14 jobs wait");
  decision.bestWorth = 0;  // none could be had for any price
  EXPECT_EQ(textAfter(decision).substr(0, 14), "0 of 135 slots");
}

TEST(WaitReason, IsTheSameReasonWhateverItsNumbers) {
  const Decision few = sampled(4, 0, Dropped::kSpread), many = sampled(40, 20, Dropped::kSpread);
  const Units units{.usable = 32, .free = 9};
  EXPECT_EQ(whyWaiting(aJob(4), 2, units, &few).kind, whyWaiting(aJob(4), 3, units, &many).kind);
}

}  // namespace tarcil::agent::wait_reason_test
