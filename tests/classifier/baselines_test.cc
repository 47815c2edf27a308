#include "classifier/baselines.h"

#include <gtest/gtest.h>

#include "tests/classifier/generated_rows.h"

namespace tarcil::baselines_test {

ApplicationMatrix matrixOf(const std::vector<std::vector<double>>& rows) {
  ApplicationMatrix matrix(rows.front().size(), {0, 1});
  for (const auto& row : rows) matrix.add(entries(row));
  return matrix;
}

std::vector<double> completed(const ModelPtr& model, std::vector<double> row) {
  model->complete(row);
  return row;
}

TEST(ColumnMean, IsThatOfTheEntriesThereAre) {
  const auto model = fitColumnMean(matrixOf({{0.2, 0.5}, {0.4, kUnknown}}));
  EXPECT_EQ(completed(model, {kUnknown, kUnknown}), (std::vector<double>{(0.2 + 0.4) / 2, 0.5}));
}

TEST(NearestNeighbour, TakesEachEntryFromTheNearestRowThatHasIt) {
  const auto model =
      fitNearestNeighbour(matrixOf({{0.50, 0.1, kUnknown}, {0.60, 0.2, 0.7}, {0.90, 0.3, 0.8}}));
  EXPECT_EQ(completed(model, {0.51, kUnknown, kUnknown}), (std::vector<double>{0.51, 0.1, 0.7}));
}

TEST(NearestNeighbour, MeasuresTheMeanDistanceInCommonColumns) {
  const auto model = fitNearestNeighbour(matrixOf({{0.7, kUnknown, 0.1}, {0.65, 0.65, 0.9}}));
  // 0.04 from the first in one column, 0.0225 from the second in each of two.
  EXPECT_DOUBLE_EQ(completed(model, {0.5, 0.5, kUnknown})[2], 0.9);
}

TEST(NearestNeighbour, FallsBackToTheMeanWhereNoRowSharesAColumn) {
  const auto model = fitNearestNeighbour(matrixOf({{kUnknown, 0.2}, {kUnknown, 0.6}}));
  EXPECT_DOUBLE_EQ(completed(model, {0.5, kUnknown})[1], 0.4);
}

TEST(RankOne, FindsMultiplesOfOneRow) {
  const auto model = fitRankOne(matrixOf({{0.1, 0.2, 0.4}, {0.2, kUnknown, 0.8}, {kUnknown, 0.1, 0.2}}));
  const auto row = completed(model, {kUnknown, 0.3, kUnknown});
  EXPECT_NEAR(row[0], 0.15, 1e-6);
  EXPECT_NEAR(row[2], 0.6, 1e-6);
}

TEST(RankOne, TakesTheMeansForARowOfWhichNothingIsKnown) {
  const auto model = fitRankOne(matrixOf({{0.1, 0.9}, {0.9, 0.8}}));
  const auto row = completed(model, {kUnknown, kUnknown});
  EXPECT_DOUBLE_EQ(row[0], 0.5);
  EXPECT_DOUBLE_EQ(row[1], 0.85);
}

}  // namespace tarcil::baselines_test
