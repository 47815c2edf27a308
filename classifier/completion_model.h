// What every method of completing rows can do. Models live on unit values (application_matrix.h), so that
// their parameters mean the same whatever is completed.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "classifier/application_matrix.h"

namespace tarcil {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool isKnown(double unit) {
  return !std::isnan(unit);
}

// Made once from a matrix, then asked for any number of rows without being made again. Constant after
// construction: safe to call from any thread.
class CompletionModel {
 public:
  virtual ~CompletionModel() = default;

  // Fills in what is unknown of a row, also where nothing of it is known: then with what an application is
  // like in general. Stays unknown: a column of which the matrix has no entry. What is known is left as it
  // is; what is filled in may lie outside [0, 1]. Requires: one unit value for each column of the matrix.
  virtual void complete(std::span<double> row) const = 0;
};

using ModelPtr = std::unique_ptr<const CompletionModel>;

// Makes a model from a matrix of any size, also of no rows.
using Fitter = std::function<ModelPtr(const ApplicationMatrix&)>;

}  // namespace tarcil
