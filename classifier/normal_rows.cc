#include "classifier/normal_rows.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <utility>
#include <vector>

namespace tarcil {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// How far beyond the range the logarithm has its pole, as a share of the range.
constexpr double kBeyond = 0.1;
// Variance that a measurement adds to an entry, as a share of the columns' mean variance.
constexpr double kMeasurementVariance = 0.02;
// What columns vary by, and go together by, before any row is known: a deviation of a fifth of the range.
constexpr double kPriorVariance = 0.04;
constexpr double kPriorCovariance = 0.02;
// The fewer entries are known, the more rounds it takes.
constexpr int kMaxRounds = 100;
// Enough where no covariance moves by more than this share of the columns' mean variance: going on takes time
// and hardly changes what held-out rows are missed by.
constexpr double kConverged = 0.01;

// [0, 1] to itself, rising.
double onLogScale(double unit) {
  return std::log((kBeyond + unit) / kBeyond) / std::log((kBeyond + 1) / kBeyond);
}
double offLogScale(double value) {
  return kBeyond * (std::exp(value * std::log((kBeyond + 1) / kBeyond)) - 1);
}

double onScale(Scale scale, double unit) {
  if (scale == Scale::kLinear) return unit;
  return scale == Scale::kLogFromLow ? onLogScale(unit) : 1 - onLogScale(1 - unit);
}
double offScale(Scale scale, double value) {
  if (scale == Scale::kLinear) return value;
  return scale == Scale::kLogFromLow ? offLogScale(value) : 1 - offLogScale(1 - value);
}

struct Parts {
  std::vector<Index> known, unknown;
};

Parts partsOf(const VectorXd& row) {
  Parts parts;
  for (Index c = 0; c < row.size(); ++c) (isKnown(row[c]) ? parts.known : parts.unknown).push_back(c);
  return parts;
}

MatrixXd inverse(const MatrixXd& covariance) {
  return covariance.llt().solve(MatrixXd::Identity(covariance.rows(), covariance.cols()));
}

class Normal {
 public:
  Normal() = default;
  Normal(VectorXd mean, MatrixXd covariance)
      : mean_(std::move(mean)), covariance_(std::move(covariance)), precision_(inverse(covariance_)) {}

  // Fills in the mean of the unknown part given the known one; returns the covariance that is left of the
  // unknown part. By way of the smaller of the two.
  MatrixXd fill(VectorXd& row, const Parts& parts) const {
    const auto& [known, unknown] = parts;
    const VectorXd excess = row(known) - mean_(known);
    if (known.size() < unknown.size()) {
      const MatrixXd shared = covariance_(known, unknown);
      const MatrixXd weights = covariance_(known, known).llt().solve(shared);
      row(unknown) = mean_(unknown) + weights.transpose() * excess;
      return covariance_(unknown, unknown) - shared.transpose() * weights;
    }
    MatrixXd left = inverse(precision_(unknown, unknown));
    row(unknown) = mean_(unknown) - left * (precision_(unknown, known) * excess);
    return left;
  }

  const VectorXd& mean() const { return mean_; }
  const MatrixXd& covariance() const { return covariance_; }

 private:
  VectorXd mean_;
  MatrixXd covariance_, precision_;  // each the inverse of the other
};

// Equal variances and equal covariances.
MatrixXd alike(Index columns, double variance, double covariance) {
  MatrixXd matrix = MatrixXd::Constant(columns, columns, covariance);
  matrix.diagonal().setConstant(variance);
  return matrix;
}

// The sample's covariance drawn towards one in which all columns are alike; what is presumed before any row
// is known counts as one more row of the latter, so that neither is ever singular.
MatrixXd shrunk(const MatrixXd& scatter, double rows, double priorRows) {
  const auto columns = static_cast<double>(scatter.cols());
  const double pairs = std::max(1.0, columns * (columns - 1));
  const double variance = (scatter.trace() / columns + kPriorVariance) / (rows + 1);
  const double covariance = ((scatter.sum() - scatter.trace()) / pairs + kPriorCovariance) / (rows + 1);
  return (scatter + priorRows * alike(scatter.cols(), variance, covariance)) / (rows + priorRows);
}

// The rows that say something, on the scale of the model.
struct Sample {
  std::vector<VectorXd> rows;
  std::vector<Parts> parts;

  void add(VectorXd row) {
    Parts split = partsOf(row);
    if (split.known.empty()) return;
    rows.push_back(std::move(row));
    parts.push_back(std::move(split));
  }
};

// Means of the known entries; for every column their mean variance, and half of it in common: nearer than
// what is presumed of any rows.
Normal firstGuess(const Sample& sample, Index columns) {
  VectorXd sum = VectorXd::Zero(columns), count = sum, squares = sum;
  for (size_t r = 0; r < sample.rows.size(); ++r) {
    for (Index c : sample.parts[r].known) {
      sum[c] += sample.rows[r][c];
      squares[c] += sample.rows[r][c] * sample.rows[r][c];
      ++count[c];
    }
  }
  VectorXd mean = sum.cwiseQuotient(count);
  const double scatter = (squares - mean.cwiseProduct(sum)).sum();
  const double variance = (scatter + kPriorVariance) / (count.sum() + 1);
  return {std::move(mean), alike(columns, variance, variance / 2)};
}

// One round: rows are filled by the normal as it is; their mean, and their covariance with what filling
// left open.
Normal improved(const Normal& normal, const Sample& sample, double priorRows) {
  const Index columns = normal.mean().size();
  MatrixXd filled(columns, static_cast<Index>(sample.rows.size()));
  MatrixXd scatter = MatrixXd::Zero(columns, columns);
  for (size_t r = 0; r < sample.rows.size(); ++r) {
    VectorXd row = sample.rows[r];
    const Parts& parts = sample.parts[r];
    if (!parts.unknown.empty()) scatter(parts.unknown, parts.unknown) += normal.fill(row, parts);
    filled.col(static_cast<Index>(r)) = row;
  }
  VectorXd mean = filled.rowwise().mean();
  filled.colwise() -= mean;
  scatter.noalias() += filled * filled.transpose();
  return {std::move(mean), shrunk(scatter, static_cast<double>(sample.rows.size()), priorRows)};
}

Normal fitNormal(const Sample& sample, Index columns, double priorRows) {
  Normal normal = firstGuess(sample, columns);
  double meanVariance = 0, change = 0;
  int round = 0;
  do {
    Normal next = improved(normal, sample, priorRows);
    meanVariance = next.covariance().trace() / static_cast<double>(columns);
    change = (next.covariance() - normal.covariance()).cwiseAbs().maxCoeff();
    normal = std::move(next);
  } while (change > kConverged * meanVariance && ++round < kMaxRounds);
  MatrixXd measured = normal.covariance();
  measured.diagonal().array() += kMeasurementVariance * meanVariance;
  return {normal.mean(), std::move(measured)};
}

class NormalRows final : public CompletionModel {
 public:
  NormalRows(const ApplicationMatrix& known, const NormalRowsOptions& options) : scale_(options.scale) {
    for (size_t c = 0; c < known.columns(); ++c) {
      bool isPresent = false;
      for (size_t r = 0; r < known.rows() && !isPresent; ++r) isPresent = isKnown(known.units(r)[c]);
      if (isPresent) columns_.push_back(c);
    }
    if (columns_.empty()) return;
    Sample sample;
    for (size_t r = 0; r < known.rows(); ++r) sample.add(scaled(known.units(r)));
    normal_ = fitNormal(sample, static_cast<Index>(columns_.size()), options.priorRows);
  }

  void complete(std::span<double> row) const override {
    VectorXd values = scaled(row);
    const Parts parts = partsOf(values);
    if (parts.unknown.empty()) return;
    normal_.fill(values, parts);
    for (Index c : parts.unknown) row[columns_[static_cast<size_t>(c)]] = offScale(scale_, values[c]);
  }

 private:
  // The columns that the model has, on its scale.
  VectorXd scaled(std::span<const double> row) const {
    VectorXd values(static_cast<Index>(columns_.size()));
    for (size_t c = 0; c < columns_.size(); ++c) {
      values[static_cast<Index>(c)] = onScale(scale_, row[columns_[c]]);
    }
    return values;
  }

  Scale scale_;
  std::vector<size_t> columns_;  // those of the matrix that have an entry
  Normal normal_;
};

}  // namespace

ModelPtr fitNormalRows(const ApplicationMatrix& known, const NormalRowsOptions& options) {
  return std::make_unique<NormalRows>(known, options);
}

}  // namespace tarcil
