// Applications whose entries a few hidden needs decide, with noise: what completion is made for, with a truth
// that is known.
#pragma once

#include <cstdint>
#include <vector>

#include "classifier/application_matrix.h"
#include "core/base/rng.h"

namespace tarcil {

// Entries lie in [0, 1] but for the noise: sums of needs times what each column takes of them.
class GeneratedRows {
 public:
  static constexpr size_t kColumns = 12;
  static constexpr size_t kNeeds = 2;

  // Noise: uniform, of this mean absolute size.
  GeneratedRows(uint64_t seed, double noise);

  Entries row();
  // Of so many rows, in which each entry is missing with this probability.
  ApplicationMatrix matrix(size_t rows, double missing = 0);

  // Programs beside three neighbours: what a neighbour takes of a program's performance, it takes in
  // proportion to what the others do. No noise.
  Entries proportionalRow();
  ApplicationMatrix proportional(size_t rows);

  Rng& rng() { return rng_; }

 private:
  Rng rng_;
  double noise_;
  std::vector<double> takes_;  // by need and column
};

// A row of numbers; NaN stands for what is missing.
Entries entries(const std::vector<double>& row);

// The row with these columns alone.
Entries knowing(const Entries& row, const std::vector<size_t>& columns);

}  // namespace tarcil
