#include "classifier/application_matrix.h"

#include <gtest/gtest.h>

#include <array>

#include "classifier/completion_model.h"

namespace tarcil::application_matrix_test {

TEST(ApplicationMatrix, GivesBackWhatWasMeasured) {
  ApplicationMatrix matrix(2, {0, 99});
  matrix.add({33.0, std::nullopt});
  EXPECT_EQ(matrix.rows(), 1u);
  EXPECT_DOUBLE_EQ(*matrix.at(0, 0), 33);
  EXPECT_EQ(matrix.at(0, 1), std::nullopt);
}

TEST(ApplicationMatrix, KeepsUnitValues) {
  ApplicationMatrix matrix(3, {-4, 4});
  matrix.add({-4.0, 2.0, std::nullopt});
  EXPECT_DOUBLE_EQ(matrix.units(0)[0], 0);
  EXPECT_DOUBLE_EQ(matrix.units(0)[1], 0.75);
  EXPECT_FALSE(isKnown(matrix.units(0)[2]));
}

TEST(ApplicationMatrix, TakesTheNearerEndForValuesOutsideTheRange) {
  ApplicationMatrix matrix(2, {0, 99});
  matrix.add({-3.0, 250.0});
  EXPECT_DOUBLE_EQ(*matrix.at(0, 0), 0);
  EXPECT_DOUBLE_EQ(*matrix.at(0, 1), 99);
}

TEST(ApplicationMatrix, RestrictsItselfToRowsInTheOrderAskedFor) {
  ApplicationMatrix matrix(1, {0, 1});
  for (double value : {0.1, 0.2, 0.3}) matrix.add({value});
  const std::array<size_t, 2> rows = {2, 0};
  const ApplicationMatrix some = matrix.only(rows);
  ASSERT_EQ(some.rows(), 2u);
  EXPECT_DOUBLE_EQ(*some.at(0, 0), 0.3);
  EXPECT_DOUBLE_EQ(*some.at(1, 0), 0.1);
}

}  // namespace tarcil::application_matrix_test
