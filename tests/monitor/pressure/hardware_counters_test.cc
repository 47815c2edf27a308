// Hardware counters over a perf_event_open that is only played.
#include "monitor/pressure/hardware_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tarcil::hardware_counters_test {

using testing::HasSubstr;
using testing::Optional;

constexpr HardwareEvent kCyclesEvent{0, 0}, kInstructionsEvent{0, 1}, kReferencesEvent{0, 2};
constexpr HardwareEvent kDtlbEvent{3, 3 | 1 << 16}, kItlbEvent{3, 4 | 1 << 16};
constexpr HardwareEvent kLastLevelReads{3, 2};

// Has every event but those it lacks; counts what the test says.
class PlayedPerf final : public PerfSource {
 public:
  struct State {
    std::vector<HardwareEvent> lacks;
    std::vector<uint32_t> deadCores;
    std::map<std::pair<uint64_t, uint32_t>, size_t> numbers;  // by type and config in one, and core
    std::vector<std::optional<RawCount>> counts;

    std::optional<RawCount>& of(const HardwareEvent& event, uint32_t core) {
      return counts.at(numbers.at({keyOf(event), core}));
    }
    static uint64_t keyOf(const HardwareEvent& event) { return uint64_t{event.type} << 32 | event.config; }
  };

  explicit PlayedPerf(State& state) : state_(state) {}

  Result<size_t> open(const HardwareEvent& event, uint32_t core) override {
    const auto has = [](const auto& list, const auto& one) {
      return std::find(list.begin(), list.end(), one) != list.end();
    };
    if (has(state_.lacks, event) || has(state_.deadCores, core)) return notFound("No such file or directory");
    state_.numbers[{State::keyOf(event), core}] = state_.counts.size();
    state_.counts.emplace_back(RawCount{});
    return state_.counts.size() - 1;
  }
  std::optional<RawCount> read(size_t event) override { return state_.counts.at(event); }

 private:
  State& state_;
};

struct HardwareCountersTest : testing::Test {
  PlayedPerf::State perf;

  Result<HardwareCounters> open(const std::vector<uint32_t>& cores = {0}) {
    return HardwareCounters::open(std::make_unique<PlayedPerf>(perf), cores);
  }
};

TEST_F(HardwareCountersTest, AddsUpTheCores) {
  auto counters = open({0, 3});
  perf.of(kInstructionsEvent, 0) = RawCount{100, 10, 10};
  perf.of(kInstructionsEvent, 3) = RawCount{50, 10, 10};
  EXPECT_THAT(counters->read().instructions, Optional(150));
  EXPECT_THAT(counters->read().cycles, Optional(0));
}

TEST_F(HardwareCountersTest, ScalesEachGrowthByItsOwnTurns) {
  auto counters = open();
  perf.of(kCyclesEvent, 0) = RawCount{100, 100, 50};
  EXPECT_THAT(counters->read().cycles, Optional(200));
  perf.of(kCyclesEvent, 0) = RawCount{200, 200, 150};  // the whole time this time
  EXPECT_THAT(counters->read().cycles, Optional(300));
}

TEST_F(HardwareCountersTest, AnEventWithoutATurnIsNotZero) {
  auto counters = open();
  perf.of(kCyclesEvent, 0) = RawCount{0, 100, 0};
  perf.of(kInstructionsEvent, 0) = RawCount{0, 0, 0};  // nothing ran: that is zero
  EXPECT_THAT(counters->read().instructions, Optional(0));
  perf.of(kCyclesEvent, 0) = RawCount{10, 300, 100};
  EXPECT_THAT(counters->read().cycles, Optional(30));
}

TEST_F(HardwareCountersTest, WhatTheProcessorLacksIsAbsentAndTheRestCounts) {
  perf.lacks = {kReferencesEvent, kLastLevelReads};
  auto counters = open();
  EXPECT_EQ(counters->read().l2Misses, std::nullopt);
  EXPECT_THAT(counters->read().llcMisses, Optional(0));
}

TEST_F(HardwareCountersTest, TakesTheNextEventWhereTheFirstIsNotThere) {
  perf.lacks = {kReferencesEvent};
  auto counters = open();
  perf.of(kLastLevelReads, 0) = RawCount{7, 1, 1};
  EXPECT_THAT(counters->read().l2Misses, Optional(7));
}

TEST_F(HardwareCountersTest, TlbMissesAreThoseOfDataAndInstructions) {
  auto counters = open();
  perf.of(kDtlbEvent, 0) = RawCount{5, 1, 1};
  perf.of(kItlbEvent, 0) = RawCount{2, 1, 1};
  EXPECT_THAT(counters->read().tlbMisses, Optional(7));
}

TEST_F(HardwareCountersTest, ACoreThatCannotBeCountedMakesTheCounterAbsent) {
  perf.deadCores = {1};
  EXPECT_THAT(open({0, 1}).error().message, HasSubstr("No such file or directory"));
}

TEST_F(HardwareCountersTest, WithoutCyclesAndInstructionsThereIsNothing) {
  perf.lacks = {kCyclesEvent, kInstructionsEvent};
  const auto counters = open();
  ASSERT_FALSE(counters.ok());
  EXPECT_EQ(counters.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(open({}).ok());
}

TEST_F(HardwareCountersTest, ACounterThatBeganAnewDoesNotRunBack) {
  ScaledCount count;
  count.take({100, 10, 10});
  count.take({3, 1, 1});
  EXPECT_EQ(count.total(), 100);
  count.take({5, 2, 2});
  EXPECT_EQ(count.total(), 102);
}

TEST(LinuxPerf, CountsOrSaysWhyItCannot) {
  auto counters = HardwareCounters::open(linuxPerf(""), {0});
  if (counters.ok()) {
    EXPECT_TRUE(counters->read().cycles || counters->read().instructions);
  } else {
    EXPECT_THAT(counters.error().message, HasSubstr("perf_event_open: "));
  }
  EXPECT_THAT(HardwareCounters::open(linuxPerf("/no/such/cgroup"), {0}).error().message, HasSubstr("cgroup"));
}

}  // namespace tarcil::hardware_counters_test
