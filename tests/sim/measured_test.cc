#include "sim/ground_truth/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tarcil::sim::measured_test {

using testing::HasSubstr;

// Made up: a bears b well, c badly.
const std::string kPairs =
    "program_1,program_2,performance_1,performance_2,stddev_1,stddev_2\n"
    "a,b,0.9,0.8,0,0\n"
    "a,c,0.5,0.95,0,0\n"
    "b,c,0.6,0.7,0,0\n";
const std::string kTriples =
    "program_1,program_2,program_3,performance_1,performance_2,performance_3\n"
    "a,b,c,0.4,0.5,0.65\n";

MeasuredTruth aTruth(const std::string& triples = kTriples) {
  auto coRuns = readCoRuns(kPairs, "pairs.csv", triples, "triples.csv");
  EXPECT_TRUE(coRuns.ok()) << coRuns.error().message;
  return MeasuredTruth(*coRuns);
}

std::vector<double> speeds(MeasuredTruth truth, const std::vector<ApplicationNumber>& tasks) {
  std::vector<double> found(tasks.size());
  truth.speeds(0, tasks, found);
  return found;
}

double slowdown(double performance) {
  return 1 / performance - 1;
}

TEST(Measured, IsWhatWasMeasuredForPairsAndTriples) {
  EXPECT_THAT(speeds(aTruth(), {0}), testing::ElementsAre(1));
  EXPECT_THAT(speeds(aTruth(), {2, 0}),
              testing::ElementsAre(testing::DoubleEq(0.95), testing::DoubleEq(0.5)));
  EXPECT_THAT(speeds(aTruth(), {2, 0, 1}),
              testing::ElementsAre(testing::DoubleEq(0.65), testing::DoubleEq(0.4), testing::DoubleEq(0.5)));
}

TEST(Measured, AddsPairsUpWhereNoTripleWasMeasured) {
  EXPECT_DOUBLE_EQ(speeds(aTruth(""), {0, 1, 2})[0], 1 / (1 + slowdown(0.9) + slowdown(0.5)));
}

TEST(Measured, CountsEachNeighbourByItsTriplesBeyondTwo) {
  // a beside b, c, c: triples abc twice and acc, which is put together from pairs.
  const double expected = (2 * slowdown(0.4) + 2 * slowdown(0.5)) / 2;
  EXPECT_DOUBLE_EQ(speeds(aTruth(), {0, 1, 2, 2})[0], 1 / (1 + expected));
}

TEST(Measured, TakesWhatIsAboveOneForOneWhereThatIsAsked) {
  const std::string pairs = "h\na,b,1.25,0.8\n", triples = "h\na,b,b,1.6,0.5,0.5\n";
  const auto truth = [&](AboveOne aboveOne) {
    return MeasuredTruth(*readCoRuns(pairs, "pairs.csv", triples, "triples.csv", aboveOne));
  };
  EXPECT_THAT(speeds(truth(AboveOne::kAsMeasured), {0, 1}),
              testing::ElementsAre(testing::DoubleEq(1.25), testing::DoubleEq(0.8)));
  EXPECT_THAT(speeds(truth(AboveOne::kAsOne), {0, 1}), testing::ElementsAre(1, testing::DoubleEq(0.8)));
  EXPECT_EQ(speeds(truth(AboveOne::kAsOne), {0, 1, 1})[0], 1);
}

TEST(Measured, KnowsTheFastestThatAnyCompanyAllows) {
  const auto truth =
      MeasuredTruth(*readCoRuns("h\na,b,1.25,0.8\n", "pairs.csv", "h\na,b,b,1.6,0.5,0.5\n", "triples.csv"));
  EXPECT_EQ(truth.fastest(0, 0, 1), 1);
  EXPECT_DOUBLE_EQ(truth.fastest(0, 0, 2), 1.25);
  EXPECT_DOUBLE_EQ(truth.fastest(0, 0, 3), 1.6);
  EXPECT_EQ(truth.fastest(1, 0, 2), 1);
  for (const std::vector<ApplicationNumber>& tasks :
       {std::vector<ApplicationNumber>{0, 1, 1, 1}, {0, 0, 1, 1}}) {
    EXPECT_LE(speeds(truth, tasks)[0], truth.fastest(0, 0, 4));
  }
}

TEST(Measured, TakesACopyForTheMeanOfWhatIsDoneAndSuffered) {
  const double suffered = slowdown(0.9) + slowdown(0.5), done = slowdown(0.8) + slowdown(0.95);
  EXPECT_DOUBLE_EQ(speeds(aTruth(), {0, 0})[0], 1 / (1 + (suffered + done) / 4));
}

TEST(Measured, TellsProfilesThatExplainThePairs) {
  const MeasuredTruth truth = aTruth();
  Rng rng(1);
  const Belief belief = truth.belief(0, rng);
  const auto loss = [&belief](size_t program, size_t beside) {
    int most = 0;
    for (size_t r = 0; r < kResources; ++r) {
      most = std::max(most, belief.profiles[beside].caused[r] - belief.profiles[program].tolerated[r]);
    }
    // What costs a twentieth is said to be borne.
    return (most + 5) / 99.0;
  };
  EXPECT_NEAR(loss(0, 2), 0.5, 0.08);
  EXPECT_NEAR(loss(0, 1), 0.1, 0.08);
  EXPECT_NEAR(loss(1, 2), 0.4, 0.08);
  EXPECT_EQ(belief.profiles[0].application, "a");
}

TEST(ReadCoRuns, NamesFileLineColumnAndField) {
  const auto problem = [](const std::string& pairs, const std::string& triples = "") {
    const auto read = readCoRuns(pairs, "pairs.csv", triples, "triples.csv");
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_THAT(problem("h\na,b,0,0.8\n"),
              HasSubstr("pairs.csv:2:5: performance_1: is '0'; write a number from 0.001 to 1000"));
  EXPECT_THAT(problem("h\na,b,0.9,nan\n"), HasSubstr("pairs.csv:2:9: performance_2: is 'nan'"));
  EXPECT_THAT(problem("h\na,b,0.9,inf\n"), HasSubstr("performance_2: is 'inf'"));
  EXPECT_THAT(problem("h\na,b,0.9\n"), HasSubstr("pairs.csv:2:1: line: has 3 fields; write 4"));
  EXPECT_THAT(problem("h\n"), HasSubstr("pairs.csv:1:1: file: has 0 programs"));
  EXPECT_THAT(problem("h\na,b,1,1\na,c,1,1\n"), HasSubstr("has no pair of 'b' and 'c'; add it"));
  EXPECT_THAT(problem(kPairs, "h\na,b,x,1,1,1\n"),
              HasSubstr("triples.csv:2:5: program_3: is 'x', which no pair has"));
  EXPECT_THAT(problem(kPairs, "h\na,b,c,1,1,-1\n"), HasSubstr("triples.csv:2:11: performance_3: is '-1'"));
}

RC_GTEST_PROP(ReadCoRuns, ReadsOrRefusesWhateverThereIs,
              (const std::string& pairs, const std::string& triples)) {
  const auto some = readCoRuns("h\n" + pairs, "p", triples, "t");
  RC_ASSERT((some.ok() || some.error().message.starts_with("p:")));
  const auto others = readCoRuns(kPairs, "p", "h\n" + triples, "t");
  RC_ASSERT((others.ok() || others.error().message.starts_with("t:")));
}

}  // namespace tarcil::sim::measured_test
