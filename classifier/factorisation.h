// PQ factorisation by stochastic gradient descent, as Quasar classifies (section 3.2; Paragon section 3):
// each application and each column has a few hidden factors, and a level of its own.
#pragma once

#include <cstdint>

#include "classifier/completion_model.h"

namespace tarcil {

struct FactorisationOptions {
  // Hidden factors, at least 1. More: finer distinctions, of which a small matrix has few.
  int rank = 2;
  // Weight of the squares of factors and levels against the squared errors, above 0. More: nearer to
  // the mean.
  double regularisation = 0.005;
  // How far each entry moves what it touches, in (0, 1). More: quicker, and coarser.
  double learningRate = 0.05;
  // Of the order in which entries are taken.
  uint64_t seed = 1;

  bool operator==(const FactorisationOptions&) const = default;
};

// entry = mean + level of the row + level of the column + row's factors . column's factors. Starts from the
// singular value decomposition of the matrix with its gaps filled by the levels, then descends over the known
// entries in random order until they change little. A new row gets its level and factors by ridge regression
// on the columns' factors, which stay: O(columns * rank^2), and as good as making all anew with the row in it
// (docs/classification.md). The same seed gives the same model.
ModelPtr fitFactorisation(const ApplicationMatrix& known, const FactorisationOptions& options);

}  // namespace tarcil
