#include "tests/classifier/generated_rows.h"

#include <cmath>

namespace tarcil {

GeneratedRows::GeneratedRows(uint64_t seed, double noise)
    : rng_(seed), noise_(noise), takes_(kNeeds * kColumns) {
  for (double& take : takes_) take = rng_.unit();
}

Entries GeneratedRows::row() {
  Entries row(kColumns, 0.0);
  for (size_t need = 0; need < kNeeds; ++need) {
    const double size = rng_.unit() / kNeeds;
    for (size_t c = 0; c < kColumns; ++c) *row[c] += size * takes_[need * kColumns + c];
  }
  for (auto& entry : row) *entry += 2 * noise_ * (2 * rng_.unit() - 1);
  return row;
}

ApplicationMatrix GeneratedRows::matrix(size_t rows, double missing) {
  ApplicationMatrix matrix(kColumns, {-0.5, 1.5});
  for (size_t r = 0; r < rows; ++r) {
    Entries made = row();
    for (auto& entry : made) {
      if (rng_.unit() < missing) entry.reset();
    }
    matrix.add(made);
  }
  return matrix;
}

Entries GeneratedRows::proportionalRow() {
  const double sensitivity = rng_.unit();
  Entries row;
  for (double pressure : {0.5, 1.0, 2.2}) row.emplace_back(1.1 * std::exp(-sensitivity * pressure) - 0.1);
  return row;
}

ApplicationMatrix GeneratedRows::proportional(size_t rows) {
  ApplicationMatrix matrix(3, {0, 1});
  for (size_t r = 0; r < rows; ++r) matrix.add(proportionalRow());
  return matrix;
}

Entries entries(const std::vector<double>& row) {
  Entries made;
  for (double value : row) made.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
  return made;
}

Entries knowing(const Entries& row, const std::vector<size_t>& columns) {
  Entries some(row.size());
  for (size_t c : columns) some[c] = row[c];
  return some;
}

}  // namespace tarcil
