#include "classifier/cross_validation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/rng.h"

namespace tarcil {
namespace {

constexpr size_t kMaxRowsAlone = 16;
constexpr size_t kFolds = 8;
// Small matrices are asked often enough that chance does not choose between methods.
constexpr size_t kQuestions = 400;

void shuffle(std::vector<size_t>& numbers, Rng& rng) {
  for (size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[rng.below(i)]);
}

struct ErrorSum {
  double sum = 0;
  double count = 0;

  // Completes the row from the first `kept` of its known columns and adds what it misses the others by.
  void ask(const CompletionModel& model, std::span<const double> row, const std::vector<size_t>& columns,
           size_t kept) {
    std::vector<double> asked(row.size(), kUnknown);
    for (size_t i = 0; i < kept; ++i) asked[columns[i]] = row[columns[i]];
    model.complete(asked);
    for (size_t i = kept; i < columns.size(); ++i) {
      const double filled = asked[columns[i]];
      if (!isKnown(filled)) continue;
      sum += std::abs(std::clamp(filled, 0.0, 1.0) - row[columns[i]]);
      ++count;
    }
  }
};

}  // namespace

std::vector<Fold> fitFolds(const ApplicationMatrix& known, const Fitter& fitter, uint64_t seed) {
  if (known.rows() < 2) return {};
  std::vector<size_t> rows(known.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  Rng rng(seed);
  shuffle(rows, rng);
  std::vector<Fold> folds(rows.size() <= kMaxRowsAlone ? rows.size() : kFolds);
  for (size_t f = 0; f < folds.size(); ++f) {
    std::vector<size_t> others;
    for (size_t i = 0; i < rows.size(); ++i) {
      (i % folds.size() == f ? folds[f].heldOut : others).push_back(rows[i]);
    }
    folds[f].model = fitter(known.only(others));
  }
  return folds;
}

std::optional<double> heldOutError(const ApplicationMatrix& known, const std::vector<Fold>& folds,
                                   uint64_t seed) {
  Rng rng(seed);
  const size_t turns = std::max<size_t>(1, kQuestions / std::max<size_t>(1, known.rows()));
  ErrorSum error;
  for (const Fold& fold : folds) {
    for (size_t row : fold.heldOut) {
      std::vector<size_t> columns;
      for (size_t c = 0; c < known.columns(); ++c) {
        if (isKnown(known.units(row)[c])) columns.push_back(c);
      }
      for (size_t turn = 0; turn < turns; ++turn) {
        shuffle(columns, rng);
        for (size_t kept : {1, 2, 4}) {
          if (kept < columns.size()) error.ask(*fold.model, known.units(row), columns, kept);
        }
      }
    }
  }
  if (error.count == 0) return std::nullopt;
  return error.sum / error.count;
}

}  // namespace tarcil
