#include "classifier/completer.h"

#include <gtest/gtest.h>

#include "tests/classifier/generated_rows.h"

namespace tarcil::completer_test {

constexpr double kNoise = 0.01;

TEST(Completer, MarksWhatWasMeasuredAndWhatWasInferred) {
  GeneratedRows rows(1, kNoise);
  const Completer completer(rows.matrix(30));
  const Entries truth = rows.row();
  const auto completed = completer.complete(knowing(truth, {2, 7}));
  for (size_t c = 0; c < truth.size(); ++c) {
    const bool isMeasured = c == 2 || c == 7;
    EXPECT_EQ(completed[c].origin, isMeasured ? Origin::kMeasured : Origin::kInferred) << c;
    if (!isMeasured) continue;
    EXPECT_DOUBLE_EQ(completed[c].value, *truth[c]);
    EXPECT_EQ(completed[c].expectedError, 0);
  }
}

TEST(Completer, KeepsInferredEntriesWithinTheRange) {
  ApplicationMatrix matrix(2, {0, 99});
  for (double value : {10, 20, 30, 40, 50}) matrix.add({value, 2 * value});
  const Completer completer(matrix);
  EXPECT_EQ(completer.complete({99.0, std::nullopt})[1].value, 99);
}

TEST(Completer, ExpectsTheErrorThatItMakes) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    GeneratedRows rows(seed, kNoise);
    const Completer completer(rows.matrix(60, 0.1));
    double expected = 0, made = 0;
    for (int i = 0; i < 60; ++i) {
      const Entries truth = rows.row();
      const auto completed =
          completer.complete(knowing(truth, {rows.rng().below(6), 6 + rows.rng().below(6)}));
      for (size_t c = 0; c < truth.size(); ++c) {
        if (completed[c].origin == Origin::kMeasured) continue;
        expected += completed[c].expectedError;
        made += std::abs(completed[c].value - *truth[c]);
      }
    }
    EXPECT_NEAR(expected / made, 1, 0.25) << "seed " << seed;
  }
}

TEST(Completer, ExpectsLessErrorTheMoreIsKnown) {
  GeneratedRows rows(1, kNoise);
  const Completer completer(rows.matrix(60));
  const Entries truth = rows.row();
  const double fromNone = completer.complete(knowing(truth, {}))[11].expectedError;
  const double fromSix = completer.complete(knowing(truth, {0, 1, 2, 3, 4, 5}))[11].expectedError;
  EXPECT_LT(fromSix, 0.5 * fromNone);
}

TEST(Completer, TellsErrorsInTheCallersUnits) {
  ApplicationMatrix matrix(2, {0, 99});
  for (double value : {20, 20, 80, 80}) matrix.add({value, value});
  const Completer completer(matrix, {.method = Method::kColumnMean});
  // The mean of the other three, 60 or 40, misses by 40.
  EXPECT_NEAR(*completer.choice().heldOutError, 40, 1e-9);
  EXPECT_NEAR(completer.complete({20.0, std::nullopt})[1].expectedError, 40, 1e-9);
}

TEST(Completer, ChoosesTheScaleThatSuitsTheRows) {
  GeneratedRows rows(1, kNoise);
  const Completer completer(rows.proportional(30));
  EXPECT_EQ(completer.choice().normalRows.scale, Scale::kLogFromLow);
  EXPECT_GT(*completer.choice().heldOutError, 0);
}

TEST(Completer, RecordsWhatFactorisationWasChosen) {
  GeneratedRows rows(1, kNoise);
  const Completer completer(rows.matrix(40), {.method = Method::kFactorisation, .seed = 3});
  EXPECT_EQ(completer.choice().method, Method::kFactorisation);
  EXPECT_GE(completer.choice().factorisation.rank, static_cast<int>(GeneratedRows::kNeeds));
  EXPECT_EQ(completer.choice().factorisation.seed, 3u);
}

TEST(Completer, GivesTheSameForASeed) {
  for (Method method : {Method::kNormalRows, Method::kFactorisation}) {
    std::vector<std::vector<double>> answers;
    for (int run = 0; run < 2; ++run) {
      GeneratedRows rows(1, kNoise);
      const Completer completer(rows.matrix(250, 0.2), {.method = method, .seed = 7});
      std::vector<double> answer = {*completer.choice().heldOutError};
      for (const auto& entry : completer.complete(knowing(rows.row(), {4, 9}))) {
        answer.push_back(entry.value);
        answer.push_back(entry.expectedError);
      }
      answers.push_back(answer);
    }
    EXPECT_EQ(answers[0], answers[1]);
  }
}

TEST(Completer, SaysWhereNothingIsKnown) {
  const Completer completer(ApplicationMatrix(2, {0, 99}));
  EXPECT_EQ(completer.applications(), 0u);
  EXPECT_EQ(completer.choice().heldOutError, std::nullopt);
  const auto completed = completer.complete({30.0, std::nullopt});
  EXPECT_EQ(completed[0].origin, Origin::kMeasured);
  EXPECT_EQ(completed[1].origin, Origin::kAssumed);
  EXPECT_EQ(completed[1].expectedError, 99);
}

TEST(Completer, IsNotSureOfWhatOneApplicationAloneTells) {
  ApplicationMatrix matrix(2, {0, 99});
  matrix.add({30.0, 60.0});
  const Completer completer(matrix);
  const auto completed = completer.complete({30.0, std::nullopt});
  EXPECT_EQ(completed[1].origin, Origin::kInferred);
  EXPECT_NEAR(completed[1].value, 60, 1);
  EXPECT_EQ(completed[1].expectedError, 99);
}

TEST(Completer, DoesNotTakeAColumnForSureBecauseFewRowsHaveIt) {
  ApplicationMatrix matrix(3, {0, 99});
  Rng rng(1);
  for (int i = 0; i < 10; ++i) matrix.add({99 * rng.unit(), 99 * rng.unit(), std::nullopt});
  matrix.add({50.0, 50.0, 40.0});
  matrix.add({50.0, 50.0, 40.0});
  const auto completed = Completer(matrix).complete({50.0, std::nullopt, std::nullopt});
  EXPECT_GT(completed[2].expectedError, 4);
}

TEST(Completer, ExpectsWhatThoseAreMissedByThatKnowTheSameColumns) {
  ApplicationMatrix matrix(2, {0, 1});
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const double value = rng.unit();
    matrix.add({i % 2 == 0 ? std::optional(value) : std::nullopt, value});
  }
  // Rows that lack the first column can only be completed by the mean of the second.
  EXPECT_LT(Completer(matrix).complete({0.5, std::nullopt})[1].expectedError, 0.05);
}

// The first column tells the two next ones, the fourth column nothing, nor can it be told.
ApplicationMatrix oneColumnTellsTwo() {
  ApplicationMatrix matrix(4, {0, 1});
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const double cause = rng.unit();
    matrix.add({cause, 0.9 * cause + 0.1 * rng.unit(), 0.9 * cause + 0.1 * rng.unit(), rng.unit()});
  }
  return matrix;
}

TEST(MostTelling, TakesWhatLeavesLeastErrorFirst) {
  const Completer completer(oneColumnTellsTwo());
  EXPECT_EQ(completer.mostTelling({{3}, {2}, {1}, {0}}, 2), (std::vector<size_t>{3, 0}));
}

TEST(MostTelling, GivesNoMoreGroupsThanThereAre) {
  const Completer completer(oneColumnTellsTwo());
  EXPECT_EQ(completer.mostTelling({{0, 1}, {2}}, 9).size(), 2u);
}

TEST(MostTelling, KeepsTheOrderWhereNothingIsKnown) {
  const Completer completer(ApplicationMatrix(4, {0, 1}));
  EXPECT_EQ(completer.mostTelling({{0}, {1}, {2}}, 2), (std::vector<size_t>{0, 1}));
}

}  // namespace tarcil::completer_test
