// Both models on applications of which the truth is known: two hidden needs, and noise.
#include <gtest/gtest.h>

#include <algorithm>

#include "classifier/baselines.h"
#include "classifier/factorisation.h"
#include "classifier/normal_rows.h"
#include "tests/classifier/generated_rows.h"

namespace tarcil::low_rank_test {

constexpr double kNoise = 0.01;
constexpr uint64_t kSeeds = 20;

ModelPtr normalRows(const ApplicationMatrix& known) {
  return fitNormalRows(known, {});
}
ModelPtr factorisation(const ApplicationMatrix& known) {
  return fitFactorisation(known, {.regularisation = 0.001});
}

struct Named {
  const char* name;
  ModelPtr (*fit)(const ApplicationMatrix&);
};
class LowRank : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Models, LowRank,
                         testing::Values(Named{"NormalRows", normalRows},
                                         Named{"Factorisation", factorisation}),
                         [](const auto& info) { return std::string(info.param.name); });

// Mean absolute error, in the rows' units, over new rows of which six entries are known.
double errorOn(GeneratedRows& rows, const ApplicationMatrix& matrix, const CompletionModel& model) {
  double sum = 0, count = 0;
  for (int i = 0; i < 40; ++i) {
    const Entries truth = rows.row();
    std::vector<size_t> columns;
    while (columns.size() < 6) {
      const size_t c = rows.rng().below(truth.size());
      if (std::find(columns.begin(), columns.end(), c) == columns.end()) columns.push_back(c);
    }
    std::vector<double> row = matrix.toUnits(knowing(truth, columns));
    model.complete(row);
    for (size_t c = 0; c < row.size(); ++c) {
      if (std::find(columns.begin(), columns.end(), c) != columns.end()) continue;
      sum += std::abs(matrix.fromUnit(row[c]) - *truth[c]);
      ++count;
    }
  }
  return sum / count;
}

TEST_P(LowRank, ErrsLittleMoreThanTheNoiseAndFarLessThanTheMean) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GeneratedRows rows(seed, kNoise);
    const ApplicationMatrix matrix = rows.matrix(80);
    EXPECT_LT(errorOn(rows, matrix, *GetParam().fit(matrix)), 2 * kNoise) << "seed " << seed;
    EXPECT_GT(errorOn(rows, matrix, *fitColumnMean(matrix)), 4 * kNoise) << "seed " << seed;
  }
}

TEST_P(LowRank, BearsAThirdOfTheEntriesMissing) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GeneratedRows rows(seed, kNoise);
    const ApplicationMatrix matrix = rows.matrix(80, 0.33);
    EXPECT_LT(errorOn(rows, matrix, *GetParam().fit(matrix)), 2.5 * kNoise) << "seed " << seed;
  }
}

TEST_P(LowRank, GivesTheSameAgain) {
  GeneratedRows rows(1, kNoise);
  const ApplicationMatrix matrix = rows.matrix(30, 0.2);
  const std::vector<double> asked = matrix.toUnits(knowing(rows.row(), {1, 5}));
  std::vector<double> once = asked, again = asked;
  GetParam().fit(matrix)->complete(once);
  GetParam().fit(matrix)->complete(again);
  EXPECT_EQ(once, again);
}

TEST_P(LowRank, LeavesWhatIsKnownAsItIs) {
  GeneratedRows rows(2, kNoise);
  const ApplicationMatrix matrix = rows.matrix(30);
  std::vector<double> row(GeneratedRows::kColumns, kUnknown);
  row[3] = 0.875;
  GetParam().fit(matrix)->complete(row);
  EXPECT_EQ(row[3], 0.875);
  EXPECT_TRUE(std::all_of(row.begin(), row.end(), isKnown));
}

TEST_P(LowRank, CompletesARowOfWhichNothingIsKnownByTheMean) {
  GeneratedRows rows(3, kNoise);
  const ApplicationMatrix matrix = rows.matrix(80);
  std::vector<double> row(GeneratedRows::kColumns, kUnknown), mean = row;
  GetParam().fit(matrix)->complete(row);
  fitColumnMean(matrix)->complete(mean);
  for (size_t c = 0; c < row.size(); ++c) EXPECT_NEAR(row[c], mean[c], 0.02) << c;
}

TEST_P(LowRank, LeavesAColumnThatNobodyHasUnknown) {
  ApplicationMatrix matrix(3, {0, 1});
  matrix.add({0.2, std::nullopt, 0.4});
  matrix.add({0.3, std::nullopt, 0.6});
  std::vector<double> row = {0.25, kUnknown, kUnknown}, other = {kUnknown, 0.9, kUnknown};
  const ModelPtr model = GetParam().fit(matrix);
  model->complete(row);
  EXPECT_FALSE(isKnown(row[1]));
  EXPECT_NEAR(row[2], 0.5, 0.1);
  model->complete(other);
  EXPECT_NEAR(other[0], 0.25, 0.01);
}

TEST_P(LowRank, CompletesFromOneApplicationAlone) {
  ApplicationMatrix matrix(3, {0, 1});
  matrix.add({0.2, 0.4, 0.6});
  std::vector<double> alike = {0.2, kUnknown, kUnknown}, higher = {0.5, kUnknown, kUnknown};
  const ModelPtr model = GetParam().fit(matrix);
  model->complete(alike);
  EXPECT_NEAR(alike[1], 0.4, 0.05);
  EXPECT_NEAR(alike[2], 0.6, 0.05);
  model->complete(higher);
  EXPECT_GT(higher[1], alike[1]);  // it stands higher in what is known
}

TEST_P(LowRank, BearsColumnsThatAreEqual) {
  ApplicationMatrix matrix(3, {0, 1});
  for (double value : {0.1, 0.3, 0.5, 0.7, 0.9}) matrix.add({value, value, value});
  std::vector<double> row = {0.8, kUnknown, 0.8};
  GetParam().fit(matrix)->complete(row);
  EXPECT_NEAR(row[1], 0.8, 0.05);
}

TEST_P(LowRank, LearnsNothingFromRowsWithoutEntries) {
  ApplicationMatrix matrix(2, {0, 1});
  for (double value : {0.2, 0.4, 0.6, 0.8}) matrix.add({value, value});
  ApplicationMatrix padded = matrix;
  for (int i = 0; i < 100; ++i) padded.add({std::nullopt, std::nullopt});
  std::vector<double> row = {0.8, kUnknown}, same = row;
  GetParam().fit(matrix)->complete(row);
  GetParam().fit(padded)->complete(same);
  EXPECT_NEAR(same[1], row[1], 1e-6);
}

TEST_P(LowRank, KnowsNothingWithoutApplications) {
  std::vector<double> row = {0.2, kUnknown};
  GetParam().fit(ApplicationMatrix(2, {0, 1}))->complete(row);
  EXPECT_EQ(row[0], 0.2);
  EXPECT_FALSE(isKnown(row[1]));
}

TEST(NormalRows, LearnsHowColumnsVaryFromRowsThatAreMostlyMissing) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GeneratedRows rows(seed, kNoise);
    const ApplicationMatrix matrix = rows.matrix(100, 0.75);
    EXPECT_LT(errorOn(rows, matrix, *normalRows(matrix)), 3 * kNoise) << "seed " << seed;
  }
}

TEST(NormalRows, DoesNotTakeWhatItFilledInForMeasured) {
  // Filled entries have no noise: a covariance of them alone would trust measurements too much.
  constexpr double kMuchNoise = 0.03;
  double sum = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GeneratedRows rows(seed, kMuchNoise);
    const ApplicationMatrix matrix = rows.matrix(100, 0.6);
    sum += errorOn(rows, matrix, *normalRows(matrix));
  }
  EXPECT_LT(sum / kSeeds, 1.35 * kMuchNoise);
}

TEST(NormalRows, FollowsProportionsOnALogarithmicScale) {
  GeneratedRows rows(1, kNoise);
  const ApplicationMatrix matrix = rows.proportional(40);
  double linearError = 0, logarithmicError = 0;
  for (int i = 0; i < 40; ++i) {
    const std::vector<double> truth = matrix.toUnits(rows.proportionalRow());
    std::vector<double> linear = {kUnknown, truth[1], kUnknown}, logarithmic = linear;
    fitNormalRows(matrix, {Scale::kLinear, 0.1})->complete(linear);
    fitNormalRows(matrix, {Scale::kLogFromLow, 0.1})->complete(logarithmic);
    linearError += std::abs(linear[2] - truth[2]);
    logarithmicError += std::abs(logarithmic[2] - truth[2]);
  }
  EXPECT_LT(logarithmicError, 0.5 * linearError);
}

}  // namespace tarcil::low_rank_test
