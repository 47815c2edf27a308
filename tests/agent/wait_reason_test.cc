#include "agent/wait_reason.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace tarcil::agent {
namespace {

Explanation sampled(uint32_t drawn, double p, std::string reason) {
  Explanation decision;
  decision.drawn = drawn;
  decision.p = p;
  decision.dropped = {{std::move(reason), drawn - static_cast<uint32_t>(p * drawn)}};
  return decision;
}

std::string textAfter(const Explanation& decision) {
  return whyWaiting(aJob(4), 2, {.usable = 32, .free = 9}, &decision).text;
}

TEST(WaitReason, SaysThatNoServerIsUp) {
  EXPECT_EQ(whyWaiting(aJob(1), 1, {.usable = 0, .free = 0}, nullptr).text, "no server is up");
}

TEST(WaitReason, SaysThatFreeUnitsAreTooFewForATask) {
  JobSpec spec = aJob(1);
  spec.rusPerTask = 4;
  EXPECT_EQ(whyWaiting(spec, 1, {.usable = 32, .free = 3}, nullptr).text,
            "3 of 32 units are free, a task needs 4");
}

TEST(WaitReason, NamesTheResourceThatIsTooContended) {
  Explanation decision = sampled(40, 0.075, "quality");
  decision.best = {Candidate{}};
  decision.best[0].contention = pressure({{Resource::kLlc, 60}, {Resource::kTlb, 40}});
  JobSpec spec = aJob(4, tolerating({{Resource::kLlc, 30}, {Resource::kTlb, 30}}));
  EXPECT_EQ(whyWaiting(spec, 2, {.usable = 64, .free = 40}, &decision).text,
            "3 of 40 slots sampled suit it: llc is too contended on the rest");
}

TEST(WaitReason, NamesWhatTheRestLacks) {
  EXPECT_EQ(textAfter(sampled(4, 0.5, "neighbour:llc")),
            "2 of 4 slots sampled suit it: on the rest it would disturb others through llc");
  EXPECT_EQ(textAfter(sampled(4, 0, "constraint")),
            "0 of 4 slots sampled suit it: the rest do not meet its constraints");
  EXPECT_EQ(textAfter(sampled(4, 0, "not_enough_free")),
            "0 of 4 slots sampled suit it: the rest have fewer than 1 units free on one server");
  EXPECT_EQ(textAfter(sampled(4, 0, "spread")),
            "0 of 4 slots sampled suit it: its spread allows no more tasks on the rest");
}

TEST(WaitReason, IsTheSameReasonWhateverItsNumbers) {
  const Explanation few = sampled(4, 0, "spread"), many = sampled(40, 0.5, "spread");
  const Units units{.usable = 32, .free = 9};
  EXPECT_EQ(whyWaiting(aJob(4), 2, units, &few).kind, whyWaiting(aJob(4), 3, units, &many).kind);
}

}  // namespace
}  // namespace tarcil::agent
