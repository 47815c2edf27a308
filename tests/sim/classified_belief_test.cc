#include "sim/ground_truth/classified_belief.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "classifier/tolerance_search.h"

namespace tarcil::sim::classified_belief_test {

constexpr uint32_t kAllResources = kResources;

ParametricTruth aTruth(Combining combining = Combining::kSum) {
  Rng rng(1);
  ParametricOptions options;
  options.unitsOfPlatform = {4, 16, 32};
  options.combining = combining;
  options.mostPressure = 0.4;
  return {options, rng};
}

Belief classified(const ParametricTruth& truth, const Classification& classification) {
  Rng rng(2);
  return classifiedBelief(truth, classification, rng);
}

// Mean distance in points from what the truth would tell, of applications that are known or of the others.
struct Distance {
  double caused = 0, tolerated = 0, platforms = 0;
};
Distance distanceFrom(const ParametricTruth& truth, const Belief& belief, bool known) {
  Rng rng(3);
  const Belief exact = truth.belief(0, rng);
  Distance sum;
  int count = 0;
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    if (isKnown(a) != known) continue;
    const Profile &is = exact.profiles[a], &told = belief.profiles[a];
    for (size_t r = 0; r < kResources; ++r) {
      sum.caused += std::abs(told.caused[r] - is.caused[r]);
      sum.tolerated += std::abs(told.tolerated[r] - is.tolerated[r]);
      ++count;
    }
    for (const auto& [platform, speed] : is.platforms) {
      sum.platforms += std::abs(told.platforms.at(platform) - speed) * kResources / 3;
    }
  }
  return {sum.caused / count, sum.tolerated / count, sum.platforms / count};
}

TEST(ClassifiedBelief, FindsWhatIsProbed) {
  for (const Combining combining : {Combining::kSum, Combining::kProduct}) {
    const ParametricTruth truth = aTruth(combining);
    for (const bool known : {true, false}) {
      const Distance distance = distanceFrom(truth, classified(truth, {.probes = kAllResources}), known);
      EXPECT_LT(distance.caused, 0.6) << "but for rounding";
      // As close as the search goes.
      EXPECT_LT(distance.tolerated, ToleranceOptions().precision);
    }
  }
}

TEST(ClassifiedBelief, InfersWhatIsNotProbedAndErrs) {
  const ParametricTruth truth = aTruth();
  const Belief belief = classified(truth, {.probes = 2});
  const Distance known = distanceFrom(truth, belief, true), others = distanceFrom(truth, belief, false);
  EXPECT_LT(known.caused, 0.6);
  EXPECT_LT(known.platforms, 1e-9);
  EXPECT_GT(others.caused, 2) << "which resources it leans on is chance here, and nobody can infer that";
  EXPECT_GT(others.platforms, 0.01);
  EXPECT_LT(distanceFrom(truth, classified(truth, {.probes = 6}), false).caused, others.caused);
  size_t inferred = 0;
  for (const EntryOrigin& entry : belief.profiles[1].origins.caused) {
    inferred += entry.origin == Origin::kInferred ? 1 : 0;
  }
  EXPECT_EQ(inferred, kResources - 2u);
}

TEST(ClassifiedBelief, ErrsByTheNoiseOfRuns) {
  const ParametricTruth truth = aTruth();
  const Distance quiet = distanceFrom(truth, classified(truth, {.probes = kAllResources}), true);
  const Distance noisy =
      distanceFrom(truth, classified(truth, {.probes = kAllResources, .noise = 0.15}), true);
  EXPECT_GT(noisy.caused, quiet.caused + 1);
  EXPECT_GT(noisy.tolerated, quiet.tolerated);
}

TEST(ClassifiedBelief, TellsNamesAndSharesAsTheyAre) {
  const ParametricTruth truth = aTruth();
  Rng rng(1);
  const Belief exact = truth.belief(0, rng), belief = classified(truth, {});
  EXPECT_EQ(belief.shares, exact.shares);
  for (ApplicationNumber a = 0; a < truth.applications(); ++a) {
    EXPECT_EQ(belief.profiles[a].application, exact.profiles[a].application);
  }
}

// Programs of which each is a part of the loudest and a part of the tenderest: a row follows from one entry.
MeasuredTruth aMeasuredTruth(size_t count) {
  CoRuns runs;
  for (size_t a = 0; a < count; ++a) {
    runs.programs.push_back("program-" + std::to_string(a));
    for (size_t b = 0; b < count; ++b) {
      const double loss = 0.8 * static_cast<double>((a % 5 + 1) * (b % 4)) / 15;
      runs.pairs.push_back(1 / (1 - loss) - 1);
    }
  }
  runs.triples.assign(count * count * count, 0);
  return MeasuredTruth(std::move(runs));
}

// What one program is said to lose beside another one.
double toldLoss(const Belief& belief, size_t program, size_t beside) {
  int most = 0;
  for (size_t r = 0; r < kResources; ++r) {
    most = std::max(most, belief.profiles[beside].caused[r] - belief.profiles[program].tolerated[r]);
  }
  // What costs a twentieth is said to be borne.
  return most == 0 ? 0 : (most + 5) / 99.0;
}

TEST(ClassifiedBelief, InfersCoRunsFromAFewOfThem) {
  constexpr size_t kPrograms = 20;
  const MeasuredTruth truth = aMeasuredTruth(kPrograms);
  Rng rng(1);
  const Belief belief = classifiedBelief(truth, {.probes = 2}, rng);
  const std::vector<double> losses = truth.losses();
  double off = 0, offMean = 0, all = 0;
  for (const double loss : losses) all += loss / static_cast<double>(losses.size());
  for (size_t program = 1; program < kPrograms; program += 2) {
    for (size_t known = 0; known < kPrograms; known += 2) {
      const double loss = losses[program * kPrograms + known];
      off += std::abs(toldLoss(belief, program, known) - loss);
      offMean += std::abs(all - loss);
    }
  }
  EXPECT_LT(off, 0.6 * offMean) << "better than the mean of all";
  EXPECT_EQ(belief.profiles[3].application, "program-3");
}

}  // namespace tarcil::sim::classified_belief_test
