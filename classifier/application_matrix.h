// What was measured of known applications, one row each; any entry may be missing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tarcil {

// Least and greatest value of a matrix's entries. Requires: low < high, both finite.
struct ValueRange {
  double low = 0;
  double high = 1;

  double width() const { return high - low; }
};

// One row in the caller's units; nullopt is an entry that was not measured.
using Entries = std::vector<std::optional<double>>;

// The same code completes pressures (0 to 99), ratios of performance and whatever else has a range. Values
// are kept as models compute with them: *unit values*, 0 at the low end of the range and 1 at the high one.
class ApplicationMatrix {
 public:
  ApplicationMatrix(size_t columns, ValueRange range);

  // Values outside the range count as its nearer end. Requires: one entry for each column, none of them NaN.
  void add(const Entries& row);

  size_t rows() const { return columns_ == 0 ? 0 : units_.size() / columns_; }
  size_t columns() const { return columns_; }
  const ValueRange& range() const { return range_; }

  // In the caller's units.
  std::optional<double> at(size_t row, size_t column) const;
  // Unit values; NaN where missing (see completion_model.h). Valid until a row is added.
  std::span<const double> units(size_t row) const { return {units_.data() + row * columns_, columns_}; }

  // These rows alone, in this order.
  ApplicationMatrix only(std::span<const size_t> rows) const;

  // From the caller's units to unit values, NaN where missing, and back.
  std::vector<double> toUnits(const Entries& row) const;
  double fromUnit(double unit) const { return range_.low + unit * range_.width(); }

 private:
  size_t columns_;
  ValueRange range_;
  std::vector<double> units_;  // row by row
};

}  // namespace tarcil
