#include "classifier/baselines.h"

#include <vector>

namespace tarcil {
namespace {

std::vector<double> columnMeans(const ApplicationMatrix& known) {
  std::vector<double> means(known.columns(), kUnknown);
  for (size_t c = 0; c < known.columns(); ++c) {
    double sum = 0, count = 0;
    for (size_t r = 0; r < known.rows(); ++r) {
      if (!isKnown(known.units(r)[c])) continue;
      sum += known.units(r)[c];
      ++count;
    }
    if (count > 0) means[c] = sum / count;
  }
  return means;
}

class ColumnMean final : public CompletionModel {
 public:
  explicit ColumnMean(const ApplicationMatrix& known) : means_(columnMeans(known)) {}

  void complete(std::span<double> row) const override {
    for (size_t c = 0; c < row.size(); ++c) {
      if (!isKnown(row[c])) row[c] = means_[c];
    }
  }

 private:
  std::vector<double> means_;
};

class NearestNeighbour final : public CompletionModel {
 public:
  explicit NearestNeighbour(const ApplicationMatrix& known) : known_(known), means_(known) {}

  void complete(std::span<double> row) const override {
    const std::vector<double> asked(row.begin(), row.end());
    std::vector<double> nearest(row.size(), std::numeric_limits<double>::infinity());
    for (size_t r = 0; r < known_.rows(); ++r) {
      const std::span<const double> other = known_.units(r);
      const double distance = distanceBetween(asked, other);
      for (size_t c = 0; c < row.size(); ++c) {
        if (isKnown(asked[c]) || !isKnown(other[c]) || distance >= nearest[c]) continue;
        nearest[c] = distance;
        row[c] = other[c];
      }
    }
    means_.complete(row);
  }

 private:
  // Infinite where the two have no column in common.
  static double distanceBetween(std::span<const double> a, std::span<const double> b) {
    double sum = 0, count = 0;
    for (size_t c = 0; c < a.size(); ++c) {
      if (!isKnown(a[c]) || !isKnown(b[c])) continue;
      sum += (a[c] - b[c]) * (a[c] - b[c]);
      ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
  }

  ApplicationMatrix known_;
  ColumnMean means_;
};

// Least squares: how many times `pattern` the known entries of `row` are; unknown where they say nothing.
double multipleOf(std::span<const double> row, std::span<const double> pattern) {
  double product = 0, square = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    if (!isKnown(row[c]) || !isKnown(pattern[c])) continue;
    product += row[c] * pattern[c];
    square += pattern[c] * pattern[c];
  }
  return square > 0 ? product / square : kUnknown;
}

class RankOne final : public CompletionModel {
 public:
  explicit RankOne(const ApplicationMatrix& known) : means_(known), pattern_(columnMeans(known)) {
    constexpr int kRounds = 30;
    for (int round = 0; round < kRounds; ++round) improve(known);
  }

  void complete(std::span<double> row) const override {
    const double multiple = multipleOf(row, pattern_);
    if (!isKnown(multiple)) return means_.complete(row);
    for (size_t c = 0; c < row.size(); ++c) {
      if (!isKnown(row[c])) row[c] = multiple * pattern_[c];
    }
  }

 private:
  void improve(const ApplicationMatrix& known) {
    std::vector<double> product(pattern_.size(), 0), square(pattern_.size(), 0);
    for (size_t r = 0; r < known.rows(); ++r) {
      const double multiple = multipleOf(known.units(r), pattern_);
      if (!isKnown(multiple)) continue;
      for (size_t c = 0; c < pattern_.size(); ++c) {
        if (!isKnown(known.units(r)[c])) continue;
        product[c] += multiple * known.units(r)[c];
        square[c] += multiple * multiple;
      }
    }
    for (size_t c = 0; c < pattern_.size(); ++c) {
      if (square[c] > 0) pattern_[c] = product[c] / square[c];
    }
  }

  ColumnMean means_;
  std::vector<double> pattern_;  // number of each column
};

}  // namespace

ModelPtr fitColumnMean(const ApplicationMatrix& known) {
  return std::make_unique<ColumnMean>(known);
}

ModelPtr fitNearestNeighbour(const ApplicationMatrix& known) {
  return std::make_unique<NearestNeighbour>(known);
}

ModelPtr fitRankOne(const ApplicationMatrix& known) {
  return std::make_unique<RankOne>(known);
}

}  // namespace tarcil
