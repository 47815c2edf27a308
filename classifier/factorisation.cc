#include "classifier/factorisation.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/rng.h"

namespace tarcil {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxEpochs = 200;
// Descent ends where an epoch takes off less than this share of the squared error.
constexpr double kConverged = 1e-4;

struct Entry {
  Index row, column;
  double unit;
};

std::vector<Entry> entriesOf(const ApplicationMatrix& known) {
  std::vector<Entry> entries;
  for (size_t r = 0; r < known.rows(); ++r) {
    for (size_t c = 0; c < known.columns(); ++c) {
      const double unit = known.units(r)[c];
      if (isKnown(unit)) entries.push_back({static_cast<Index>(r), static_cast<Index>(c), unit});
    }
  }
  return entries;
}

// Means of what is left of the entries after `taken`, by row or column; 0 where there is none.
template <typename IndexOf, typename Taken>
VectorXd levels(const std::vector<Entry>& entries, size_t size, IndexOf indexOf, Taken taken) {
  VectorXd sum = VectorXd::Zero(static_cast<Index>(size)), count = sum;
  for (const Entry& entry : entries) {
    sum[indexOf(entry)] += entry.unit - taken(entry);
    ++count[indexOf(entry)];
  }
  return sum.cwiseQuotient(count.cwiseMax(1));
}

class Factorisation final : public CompletionModel {
 public:
  Factorisation(const ApplicationMatrix& known, const FactorisationOptions& options) {
    std::vector<Entry> entries = entriesOf(known);
    present_.assign(known.columns(), false);
    for (const Entry& entry : entries) present_[static_cast<size_t>(entry.column)] = true;
    start(known, entries, options.rank);
    descend(entries, options);
    // A row of the matrix that is whole pays the regularisation once for each entry.
    ridge_ = options.regularisation * static_cast<double>(known.columns());
  }

  void complete(std::span<double> row) const override {
    std::vector<Index> columns;
    for (size_t c = 0; c < row.size(); ++c) {
      if (isKnown(row[c]) && present_[c]) columns.push_back(static_cast<Index>(c));
    }
    const VectorXd features = foldIn(row, columns);
    for (size_t c = 0; c < row.size(); ++c) {
      if (isKnown(row[c]) || !present_[c]) continue;
      const auto column = static_cast<Index>(c);
      row[c] = mean_ + columnLevels_[column] + featuresOf(column).dot(features);
    }
  }

 private:
  // What a row's level and factors are multiplied with.
  VectorXd featuresOf(Index column) const {
    VectorXd features(columnFactors_.rows() + 1);
    features << 1, columnFactors_.col(column);
    return features;
  }

  // Level and factors of a new row, by ridge regression; all 0, the mean application, where nothing is known.
  VectorXd foldIn(std::span<const double> row, const std::vector<Index>& columns) const {
    const Index size = columnFactors_.rows() + 1;
    MatrixXd normal = ridge_ * MatrixXd::Identity(size, size);
    VectorXd right = VectorXd::Zero(size);
    for (Index column : columns) {
      const VectorXd features = featuresOf(column);
      normal.noalias() += features * features.transpose();
      right += (row[static_cast<size_t>(column)] - mean_ - columnLevels_[column]) * features;
    }
    return normal.llt().solve(right);
  }

  void start(const ApplicationMatrix& known, const std::vector<Entry>& entries, int rank) {
    double sum = 0;
    for (const Entry& entry : entries) sum += entry.unit;
    mean_ = entries.empty() ? 0 : sum / static_cast<double>(entries.size());
    const auto rowOf = [](const Entry& entry) { return entry.row; };
    const auto columnOf = [](const Entry& entry) { return entry.column; };
    columnLevels_ = levels(entries, known.columns(), columnOf, [this](const Entry&) { return mean_; });
    rowLevels_ = levels(entries, known.rows(), rowOf,
                        [this](const Entry& entry) { return mean_ + columnLevels_[entry.column]; });

    MatrixXd rest = MatrixXd::Zero(rowLevels_.size(), columnLevels_.size());
    for (const Entry& entry : entries) {
      rest(entry.row, entry.column) =
          entry.unit - mean_ - columnLevels_[entry.column] - rowLevels_[entry.row];
    }
    rowFactors_ = MatrixXd::Zero(rank, rest.rows());
    columnFactors_ = MatrixXd::Zero(rank, rest.cols());
    if (entries.empty()) return;
    const Eigen::BDCSVD<MatrixXd> svd(rest, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Index found = std::min<Index>(rank, svd.singularValues().size());
    for (Index f = 0; f < found; ++f) {
      const double root = std::sqrt(svd.singularValues()[f]);
      rowFactors_.row(f) = root * svd.matrixU().col(f).transpose();
      columnFactors_.row(f) = root * svd.matrixV().col(f).transpose();
    }
  }

  void descend(std::vector<Entry>& entries, const FactorisationOptions& options) {
    Rng rng(options.seed);
    double before = std::numeric_limits<double>::infinity();
    for (int epoch = 0; epoch < kMaxEpochs; ++epoch) {
      for (size_t i = entries.size(); i > 1; --i) std::swap(entries[i - 1], entries[rng.below(i)]);
      double squares = 0;
      for (const Entry& entry : entries) squares += step(entry, options);
      if (std::abs(before - squares) <= kConverged * squares) return;
      before = squares;
    }
  }

  // Moves what one entry touches; returns its squared error before.
  double step(const Entry& entry, const FactorisationOptions& options) {
    auto p = rowFactors_.col(entry.row);
    auto q = columnFactors_.col(entry.column);
    double& row = rowLevels_[entry.row];
    double& column = columnLevels_[entry.column];
    const double error = entry.unit - mean_ - row - column - p.dot(q);
    const double rate = options.learningRate, keep = 1 - rate * options.regularisation;
    row = keep * row + rate * error;
    column = keep * column + rate * error;
    for (Index f = 0; f < p.size(); ++f) {
      const double was = p[f];
      p[f] = keep * was + rate * error * q[f];
      q[f] = keep * q[f] + rate * error * was;
    }
    return error * error;
  }

  double mean_ = 0;
  double ridge_ = 0;
  std::vector<bool> present_;  // columns that have an entry
  VectorXd rowLevels_, columnLevels_;
  MatrixXd rowFactors_, columnFactors_;  // one column for each row, or column, of the matrix
};

}  // namespace

ModelPtr fitFactorisation(const ApplicationMatrix& known, const FactorisationOptions& options) {
  return std::make_unique<Factorisation>(known, options);
}

}  // namespace tarcil
