#include "classifier/cross_validation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "classifier/baselines.h"
#include "tests/classifier/generated_rows.h"

namespace tarcil::cross_validation_test {

// Fills in what no row of its matrix had as an entry: 1 where it was made with the row, 0 where not.
class Remembering final : public CompletionModel {
 public:
  explicit Remembering(const ApplicationMatrix& known) : known_(known) {}

  void complete(std::span<double> row) const override {
    bool met = false;
    for (size_t r = 0; r < known_.rows(); ++r) met |= known_.units(r)[0] == row[0];
    for (double& entry : row) {
      if (!isKnown(entry)) entry = met ? 1 : 0;
    }
  }

 private:
  ApplicationMatrix known_;
};

ApplicationMatrix numberedRows(size_t rows) {
  ApplicationMatrix matrix(2, {0, static_cast<double>(rows)});
  for (size_t r = 0; r < rows; ++r) matrix.add({static_cast<double>(r), 0.0});
  return matrix;
}

TEST(FitFolds, HoldsEachRowOutOfExactlyOneModel) {
  for (size_t rows : {2, 16, 17, 100}) {
    const ApplicationMatrix matrix = numberedRows(rows);
    const auto folds = fitFolds(
        matrix, [](const auto& known) { return std::make_unique<Remembering>(known); }, 1);
    EXPECT_EQ(folds.size(), rows <= 16 ? rows : 8);
    std::vector<size_t> heldOut;
    for (const Fold& fold : folds) {
      heldOut.insert(heldOut.end(), fold.heldOut.begin(), fold.heldOut.end());
      for (size_t row = 0; row < rows; ++row) {
        const bool isOut = std::count(fold.heldOut.begin(), fold.heldOut.end(), row) > 0;
        std::vector<double> asked = {matrix.units(row)[0], kUnknown};
        fold.model->complete(asked);
        EXPECT_EQ(asked[1], isOut ? 0 : 1) << row << " of " << rows;
      }
    }
    std::sort(heldOut.begin(), heldOut.end());
    EXPECT_EQ(heldOut.size(), rows);
    EXPECT_EQ(std::unique(heldOut.begin(), heldOut.end()), heldOut.end());
  }
}

TEST(FitFolds, AreNoneBelowTwoRows) {
  EXPECT_TRUE(fitFolds(numberedRows(1), fitColumnMean, 1).empty());
  EXPECT_TRUE(fitFolds(ApplicationMatrix(3, {0, 1}), fitColumnMean, 1).empty());
}

TEST(HeldOutError, IsThatOfWhatWasLeftToComplete) {
  ApplicationMatrix matrix(2, {0, 1});
  for (double value : {0.2, 0.2, 0.8, 0.8}) matrix.add({value, value});
  // The mean of the other three, 0.6 or 0.4, misses by 0.4.
  EXPECT_NEAR(*heldOutError(matrix, fitFolds(matrix, fitColumnMean, 1), 1), 0.4, 1e-12);
}

TEST(HeldOutError, IsUnknownWhereRowsHaveOneEntryEach) {
  ApplicationMatrix matrix(2, {0, 1});
  matrix.add({0.5, std::nullopt});
  matrix.add({std::nullopt, 0.5});
  EXPECT_EQ(heldOutError(matrix, fitFolds(matrix, fitColumnMean, 1), 1), std::nullopt);
}

}  // namespace tarcil::cross_validation_test
