// How much a method errs on applications that it has not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "classifier/completion_model.h"

namespace tarcil {

// A model made without some rows.
struct Fold {
  ModelPtr model;
  std::vector<size_t> heldOut;
};

// Each row is held out of one fold: of a fold of its own in a matrix of up to 16 rows, of one of 8 in a
// larger one, by chance from the seed. None where there are fewer than two rows.
std::vector<Fold> fitFolds(const ApplicationMatrix& known, const Fitter& fitter, uint64_t seed);

// Mean absolute error in unit values of held-out rows, completed from 1, 2 and 4 of their entries, over those
// that were left to complete. Which entries are known is by chance from the seed alone, so that two methods
// are asked the same. nullopt where there was nothing to complete.
std::optional<double> heldOutError(const ApplicationMatrix& known, const std::vector<Fold>& folds,
                                   uint64_t seed);

}  // namespace tarcil
