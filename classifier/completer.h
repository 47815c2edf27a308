// Completes rows, and says how far it may be off: method and parameters are chosen on the known rows alone.
#pragma once

#include <cstdint>
#include <vector>

#include "classifier/application_matrix.h"
#include "classifier/cross_validation.h"
#include "classifier/factorisation.h"
#include "classifier/normal_rows.h"
#include "core/model/profile_origins.h"

namespace tarcil {

enum class Method : uint8_t {
  kNormalRows,  // the best by measurement
  kFactorisation,
  kColumnMean,
  kNearestNeighbour,
  kRankOne,
};

struct CompleterOptions {
  Method method = Method::kNormalRows;
  // Of folds, of the order of descent, and of what is hidden in cross-validation.
  uint64_t seed = 1;
};

// What was chosen by cross-validation among the known rows.
struct MethodChoice {
  Method method = Method::kNormalRows;
  NormalRowsOptions normalRows;        // kNormalRows: as used
  FactorisationOptions factorisation;  // kFactorisation: as used
  std::optional<double> heldOutError;  // mean absolute error, in the caller's units; nullopt below two rows
};

struct CompletedEntry {
  // kMeasured, kInferred, or kAssumed: there is no known application that it could be inferred from.
  Origin origin = Origin::kAssumed;
  // In the caller's units, within the range. kAssumed: its low end.
  double value = 0;
  // Mean absolute error to expect, in the caller's units. 0 where measured: how well a measurement repeats is
  // not known here. The width of the range where nothing tells: kAssumed, or a single known application.
  double expectedError = 0;
};

// Constant after construction: safe to call from any thread. The same known rows and seed give the
// same answers.
class Completer {
 public:
  // Chooses and makes the model: 1,000 rows of 20 columns take a fraction of a second. Cross-validation looks
  // at no more than 200 rows, drawn by the seed.
  explicit Completer(ApplicationMatrix known, const CompleterOptions& options = {});

  // One entry for each column. Folds the row in; nothing is made anew. What is expected to be missed is what
  // known applications, each left out in turn, are missed by when the same columns of them are known.
  // Requires: as ApplicationMatrix::add.
  std::vector<CompletedEntry> complete(const Entries& measured) const;

  // Which groups of columns to measure of an application of which nothing is known yet, the most telling one
  // first: each takes off most of the error that those before it left. At most `count` of them.
  std::vector<size_t> mostTelling(const std::vector<std::vector<size_t>>& groups, size_t count) const;

  const MethodChoice& choice() const { return choice_; }
  // How many applications are known.
  size_t applications() const { return known_.rows(); }

 private:
  // Sums over held-out rows of the absolute error of each column, in unit values.
  struct ColumnErrors {
    std::vector<double> sum, count;
  };
  void choose(const CompleterOptions& options);
  // Takes this choice where it errs less than what was chosen before.
  void consider(const MethodChoice& choice, uint64_t seed);
  ColumnErrors errorsKnowing(const std::vector<bool>& columns) const;

  ApplicationMatrix known_;
  ApplicationMatrix sample_;  // rows that are cross-validated on
  MethodChoice choice_;
  ModelPtr model_;
  std::vector<Fold> folds_;  // of the sample
};

}  // namespace tarcil
