#include "classifier/application_matrix.h"

#include <algorithm>
#include <cassert>

#include "classifier/completion_model.h"

namespace tarcil {

ApplicationMatrix::ApplicationMatrix(size_t columns, ValueRange range) : columns_(columns), range_(range) {
  assert(range.low < range.high);
}

void ApplicationMatrix::add(const Entries& row) {
  const std::vector<double> units = toUnits(row);
  units_.insert(units_.end(), units.begin(), units.end());
}

std::optional<double> ApplicationMatrix::at(size_t row, size_t column) const {
  const double unit = units(row)[column];
  return isKnown(unit) ? std::optional(fromUnit(unit)) : std::nullopt;
}

ApplicationMatrix ApplicationMatrix::only(std::span<const size_t> rows) const {
  ApplicationMatrix some(columns_, range_);
  some.units_.reserve(rows.size() * columns_);
  for (size_t row : rows) {
    const std::span<const double> kept = units(row);
    some.units_.insert(some.units_.end(), kept.begin(), kept.end());
  }
  return some;
}

std::vector<double> ApplicationMatrix::toUnits(const Entries& row) const {
  assert(row.size() == columns_);
  std::vector<double> units(columns_, kUnknown);
  for (size_t c = 0; c < columns_; ++c) {
    if (!row[c]) continue;
    assert(isKnown(*row[c]));
    units[c] = std::clamp((*row[c] - range_.low) / range_.width(), 0.0, 1.0);
  }
  return units;
}

}  // namespace tarcil
