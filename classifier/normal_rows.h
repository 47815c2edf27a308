// Rows as draws of one multivariate normal: the default way to complete a row. It needs no number of hidden
// factors, answers in closed form, and errs less than factorisation (docs/classification.md).
#pragma once

#include <cstdint>

#include "classifier/completion_model.h"

namespace tarcil {

// On which scale entries are taken for normal. Factors multiply on a logarithmic one, which suits ratios of
// performance: what slows a program down next to one neighbour does so in proportion next to another.
enum class Scale : uint8_t {
  kLinear,
  kLogFromLow,   // log of the distance from a little below the range
  kLogFromHigh,  // log of the distance from a little above it
};

struct NormalRowsOptions {
  Scale scale = Scale::kLinear;
  // By how many rows' worth the columns' covariance is drawn towards one in which all columns vary alike and
  // go together alike, above 0. More: a small matrix says less, and the row's own level more.
  double priorRows = 2;
};

// Means and covariance by expectation maximisation over the known entries; a row is completed by the mean of
// what is unknown given what is known, on the scale chosen, hence by the median of the entry.
// At most 100 rounds of O(rows * columns^3), a few where most entries are known; a row takes O(columns^3).
ModelPtr fitNormalRows(const ApplicationMatrix& known, const NormalRowsOptions& options);

}  // namespace tarcil
