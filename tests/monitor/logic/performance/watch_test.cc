#include "monitor/logic/performance/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::watch_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Watching {
  Watching() { watch.begin(1, {.target = 100, .deviation = 0.1, .window = 5s}); }

  // A sample each second; what is told meanwhile.
  std::vector<Violation> during(int seconds, double value) {
    std::vector<Violation> told;
    for (int i = 0; i < seconds; ++i) {
      now.steady += 1s;
      now.wall += 1s;
      watch.take(1, value, now);
      for (Violation& violation : watch.changes([this](AllocationId) { return scene; }, now)) {
        told.push_back(std::move(violation));
      }
    }
    return told;
  }

  PerformanceWatch watch;
  std::optional<Scene> scene = Scene{};
  Now now{MonotonicTime(50s), WallTime(1'700'000'000s)};
};

Scene withNeighbour(AllocationId allocation) {
  Scene scene;
  scene.others.resize(1);
  scene.others[0].allocation = allocation;
  scene.others[0].caused[0] = 50;
  return scene;
}

TEST(PerformanceWatch, TellsAViolationWithItsCauseAndItsEnd) {
  Watching watching;
  watching.scene = withNeighbour(9);
  EXPECT_THAT(watching.during(10, 100), IsEmpty());
  const auto began = watching.during(5, 60);
  ASSERT_EQ(began.size(), 1u);
  EXPECT_EQ(began[0].allocation, 1u);
  EXPECT_FALSE(began[0].over);
  EXPECT_EQ(began[0].expected, 100);
  EXPECT_EQ(began[0].measured, 60);
  EXPECT_EQ(began[0].since, WallTime(1'700'000'011s));
  EXPECT_EQ(began[0].causes.at(0).neighbour, 9u);
  EXPECT_EQ(watching.watch.isDegraded(), 1u);
  const auto over = watching.during(5, 100);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_TRUE(over[0].over);
  EXPECT_THAT(over[0].causes, IsEmpty());
  EXPECT_EQ(watching.watch.isDegraded(), 0u);
}

TEST(PerformanceWatch, TellsAgainWhenAnotherCauseIsTheLikeliest) {
  Watching watching;
  watching.scene = withNeighbour(9);
  watching.during(10, 100);
  EXPECT_EQ(watching.during(20, 60).size(), 1u);
  watching.scene = withNeighbour(8);
  const auto told = watching.during(20, 60);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].causes.at(0).neighbour, 8u);
  EXPECT_EQ(told[0].since, WallTime(1'700'000'011s));
}

TEST(PerformanceWatch, WaitsForASceneOnce) {
  Watching watching;
  watching.scene = std::nullopt;
  watching.during(10, 100);
  EXPECT_THAT(watching.during(4, 60), IsEmpty());
  watching.scene = withNeighbour(9);
  const auto told = watching.during(1, 60);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].causes.at(0).neighbour, 9u);
}

TEST(PerformanceWatch, TheCauseIsUnknownWhereNothingWasSeen) {
  Watching watching;
  watching.scene = std::nullopt;
  watching.during(10, 100);
  EXPECT_EQ(watching.during(10, 60).at(0).causes.at(0).kind, Cause::Kind::kUnknown);
}

TEST(PerformanceWatch, NothingIsToldOfTasksThatAreGoneOrUnknown) {
  Watching watching;
  watching.during(10, 100);
  watching.watch.end(1);
  EXPECT_THAT(watching.during(10, 60), IsEmpty());
  EXPECT_FALSE(watching.watch.suspicious());
}

TEST(PerformanceWatch, ATaskThatIsBegunTwiceGoesOn) {
  Watching watching;
  watching.during(10, 100);
  watching.during(3, 60);
  watching.watch.begin(1, {.target = 1});
  EXPECT_EQ(watching.during(2, 60).size(), 1u);
}

// The part of what is expected that the task reaches, as it is told during so many samples of this value.
std::vector<double> partsTold(Watching& watching, int seconds, double value) {
  std::vector<double> parts;
  for (int i = 0; i < seconds; ++i) {
    watching.during(1, value);
    for (const PerformanceSample& sample : watching.watch.moved(watching.now)) {
      EXPECT_EQ(sample.allocation, 1u);
      parts.push_back(partOf(sample.reached));
    }
  }
  return parts;
}

TEST(PerformanceWatch, TellsWhatATaskReachesWhereItHasMoved) {
  Watching watching;
  EXPECT_THAT(watching.watch.moved(watching.now), IsEmpty()) << "no sample yet";
  EXPECT_THAT(partsTold(watching, 20, 102), ElementsAre(1.02));
  EXPECT_THAT(partsTold(watching, 20, 99), IsEmpty()) << "less than a twentieth";
  EXPECT_THAT(partsTold(watching, 20, 80), ElementsAre(0.8));
  watching.watch.end(1);
  EXPECT_THAT(partsTold(watching, 20, 100), IsEmpty());
}

TEST(PerformanceWatch, TellsWhatATaskReachesOnceAWindowAtMost) {
  Watching watching;
  size_t told = 0;
  for (int second = 0; second < 100; ++second) {
    told += partsTold(watching, 1, second % 10 < 5 ? 100 : 200).size();
  }
  EXPECT_GT(told, 5u);
  EXPECT_LE(told, 20u) << "windows of five seconds";
}

TEST(PerformanceWatch, TellsNothingOfATaskOfWhichNothingIsExpectedYet) {
  Watching watching;
  watching.watch.end(1);
  watching.watch.begin(1, {.target = 0, .deviation = 0.1, .window = 5s});
  EXPECT_THAT(partsTold(watching, 10, 100), IsEmpty());
}

}  // namespace tarcil::watch_test
