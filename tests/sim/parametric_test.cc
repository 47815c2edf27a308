#include "sim/ground_truth/parametric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "sim/chance.h"

namespace tarcil::sim::parametric_test {

ParametricTruth aTruth(Combining combining = Combining::kSum, uint64_t seed = 1) {
  Rng rng(seed);
  ParametricOptions options;
  options.unitsOfPlatform = {4, 16, 32};
  options.combining = combining;
  options.mostPressure = 0.4;
  return {options, rng};
}

double speedOf(ParametricTruth& truth, PlatformNumber platform, std::vector<ApplicationNumber> tasks) {
  std::vector<double> speeds(tasks.size());
  truth.speeds(platform, tasks, speeds);
  return speeds.front();
}

TEST(Parametric, RunsEachApplicationBestOnSomePlatform) {
  const ParametricTruth truth = aTruth();
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    double best = 0;
    for (PlatformNumber p = 0; p < 3; ++p) best = std::max(best, truth.alone(a, p));
    EXPECT_DOUBLE_EQ(best, 1);
  }
}

TEST(Parametric, RunsATaskAloneAsFastAsItSays) {
  ParametricTruth truth = aTruth();
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    EXPECT_DOUBLE_EQ(speedOf(truth, 1, {a}), truth.alone(a, 1));
  }
}

TEST(Parametric, NeverGainsByNeighboursAndLosesByMany) {
  ParametricTruth truth = aTruth();
  int slowed = 0;
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    std::vector<ApplicationNumber> tasks{a};
    double before = speedOf(truth, 1, tasks);
    for (ApplicationNumber other = 0; other < 15; ++other) {
      tasks.push_back(other);
      const double now = speedOf(truth, 1, tasks);
      EXPECT_LE(now, before + 1e-12);
      before = now;
    }
    slowed += before < 0.9 * truth.alone(a, 1) ? 1 : 0;
  }
  EXPECT_GT(slowed, truth.applications() / 3);
}

TEST(Parametric, TheMeanForgivesWhatTheSumDoesNot) {
  ParametricTruth sum = aTruth(Combining::kSum), mean = aTruth(Combining::kMean);
  std::vector<ApplicationNumber> tasks;
  for (ApplicationNumber i = 0; i < 30; ++i) tasks.push_back(i);
  double bySum = 0, byMean = 0;
  std::vector<double> speeds(tasks.size());
  sum.speeds(2, tasks, speeds);
  for (double speed : speeds) bySum += speed;
  mean.speeds(2, tasks, speeds);
  for (double speed : speeds) byMean += speed;
  EXPECT_GT(byMean, bySum * 1.05);
}

TEST(Parametric, MultipliesWhatEachNeighbourDoes) {
  ParametricTruth truth = aTruth(Combining::kProduct);
  for (ApplicationNumber a = 0; a < 20; ++a) {
    const double alone = truth.alone(a, 1), beside1 = speedOf(truth, 1, {a, 20}),
                 beside2 = speedOf(truth, 1, {a, 21});
    EXPECT_LT(beside1, alone);
    EXPECT_NEAR(speedOf(truth, 1, {a, 20, 21}), beside1 * beside2 / alone, 1e-12);
  }
  // What is told as tolerated of a resource costs a twentieth there.
  Rng rng(1);
  for (const Profile& profile : truth.belief(0, rng).profiles) {
    for (const uint8_t tolerated : profile.tolerated) EXPECT_GE(tolerated, 5);
  }
}

TEST(Parametric, PressesDifferentlyInLaterPhasesAndIsKnownByTheFirst) {
  const auto made = [](uint32_t phases) {
    Rng rng(1);
    ParametricOptions options;
    options.mostPressure = 0.4;
    options.phases = phases;
    options.phaseChange = 0.5;
    return ParametricTruth(options, rng);
  };
  ParametricTruth one = made(1), three = made(3);
  EXPECT_EQ(three.phases(), 3u);
  EXPECT_EQ(three.applications(), one.applications());
  Rng ofOne(2), ofThree(2);
  EXPECT_EQ(one.belief(0, ofOne).profiles, three.belief(0, ofThree).profiles);
  std::vector<ApplicationNumber> early, late;
  for (ApplicationNumber a = 0; a < 15; ++a) {
    early.push_back(a);
    late.push_back(three.inPhase(a, a == 0 ? 0 : 2));
  }
  EXPECT_EQ(speedOf(one, 0, early), speedOf(three, 0, early));
  EXPECT_NE(speedOf(three, 0, late), speedOf(three, 0, early)) << "its neighbours press differently";
}

// What is told as tolerated is what costs a twentieth, on the reference machine, on one resource.
TEST(Parametric, TellsProfilesThatFitTheTruth) {
  const ParametricTruth truth = aTruth();
  Rng rng(1);
  const Belief belief = truth.belief(0, rng);
  ASSERT_EQ(belief.profiles.size(), truth.applications());
  ASSERT_EQ(belief.shares.size(), 3u);
  EXPECT_GT(belief.shares[0][0], belief.shares[1][0]) << "a small server feels a task more";
  EXPECT_GT(belief.shares[1][0], belief.shares[2][0]);
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    EXPECT_NEAR(belief.profiles[a].platforms.at("platform-2"), truth.alone(a, 2), 1e-12);
    for (uint8_t pressure : belief.profiles[a].caused) EXPECT_LE(pressure, 40);
    for (uint8_t pressure : belief.profiles[a].tolerated) EXPECT_GE(pressure, 70);
  }
}

TEST(Parametric, ErrsByWhatWasAskedFor) {
  ParametricOptions options;
  options.applications = 2'000;
  options.mostPressure = 1;
  Rng rng(1), exact(2), wrong(2);
  const ParametricTruth truth(options, rng);
  const Belief right = truth.belief(0, exact), off = truth.belief(0.1, wrong);
  double errors = 0;
  int count = 0;
  for (size_t a = 0; a < right.profiles.size(); ++a) {
    for (size_t r = 0; r < kResources; ++r) {
      const int told = off.profiles[a].caused[r], is = right.profiles[a].caused[r];
      // In the middle of the scale nothing is cut off, and rounding does not matter.
      if (is < 40 || is > 60) continue;
      errors += std::abs(told - is) / static_cast<double>(is);
      ++count;
    }
  }
  ASSERT_GT(count, 500);
  EXPECT_NEAR(errors / count, 0.1, 0.01);
}

TEST(Parametric, IsAnotherForAnotherSeed) {
  EXPECT_NE(aTruth(Combining::kSum, 1).alone(0, 0), aTruth(Combining::kSum, 2).alone(0, 0));
}

}  // namespace tarcil::sim::parametric_test
