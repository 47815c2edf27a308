#include "classifier/completer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "classifier/baselines.h"
#include "core/base/rng.h"

namespace tarcil {
namespace {

constexpr size_t kMaxSampled = 200;
// Fewer held-out rows than this that know all columns asked for: those that know some of them are asked
// as well.
constexpr size_t kFewRows = 5;

ApplicationMatrix sampleOf(const ApplicationMatrix& known, uint64_t seed) {
  if (known.rows() <= kMaxSampled) return known;
  std::vector<size_t> rows(known.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  Rng rng(seed);
  for (size_t i = 0; i < kMaxSampled; ++i) std::swap(rows[i], rows[i + rng.below(rows.size() - i)]);
  rows.resize(kMaxSampled);
  return known.only(rows);
}

Fitter fitterFor(const MethodChoice& choice) {
  switch (choice.method) {
    case Method::kNormalRows:
      return [options = choice.normalRows](const auto& known) { return fitNormalRows(known, options); };
    case Method::kFactorisation:
      return [options = choice.factorisation](const auto& known) { return fitFactorisation(known, options); };
    case Method::kColumnMean:
      return fitColumnMean;
    case Method::kNearestNeighbour:
      return fitNearestNeighbour;
    case Method::kRankOne:
      return fitRankOne;
  }
  return fitColumnMean;
}

}  // namespace

Completer::Completer(ApplicationMatrix known, const CompleterOptions& options)
    : known_(std::move(known)), sample_(sampleOf(known_, options.seed)) {
  choose(options);
  model_ = fitterFor(choice_)(known_);
}

// One parameter after the other, each with the best of those before it.
void Completer::choose(const CompleterOptions& options) {
  choice_.method = options.method;
  choice_.factorisation.seed = options.seed;
  consider(MethodChoice(choice_), options.seed);
  const auto tryEach = [this, &options](const auto& values, auto MethodChoice::*of, auto parameter) {
    for (const auto& value : values) {
      MethodChoice other = choice_;
      other.*of.*parameter = value;
      consider(other, options.seed);
    }
  };
  if (options.method == Method::kNormalRows) {
    constexpr std::array kScales = {Scale::kLogFromLow, Scale::kLogFromHigh};
    constexpr std::array kPriorRows = {0.5, 0.1, 8.0};
    tryEach(kScales, &MethodChoice::normalRows, &NormalRowsOptions::scale);
    tryEach(kPriorRows, &MethodChoice::normalRows, &NormalRowsOptions::priorRows);
  } else if (options.method == Method::kFactorisation) {
    constexpr std::array kRanks = {1, 4};
    constexpr std::array kRegularisations = {0.02, 0.001};
    constexpr std::array kLearningRates = {0.01};
    tryEach(kRanks, &MethodChoice::factorisation, &FactorisationOptions::rank);
    tryEach(kRegularisations, &MethodChoice::factorisation, &FactorisationOptions::regularisation);
    tryEach(kLearningRates, &MethodChoice::factorisation, &FactorisationOptions::learningRate);
  }
}

void Completer::consider(const MethodChoice& choice, uint64_t seed) {
  std::vector<Fold> folds = fitFolds(sample_, fitterFor(choice), seed);
  const std::optional<double> error = heldOutError(sample_, folds, seed);
  if (!error) return;  // nothing to choose by
  const double scaled = *error * known_.range().width();
  if (choice_.heldOutError && scaled >= *choice_.heldOutError) return;
  choice_ = choice;
  choice_.heldOutError = scaled;
  folds_ = std::move(folds);
}

std::vector<CompletedEntry> Completer::complete(const Entries& measured) const {
  std::vector<double> row = known_.toUnits(measured);
  std::vector<bool> columns(row.size());
  for (size_t c = 0; c < row.size(); ++c) columns[c] = isKnown(row[c]);
  model_->complete(row);

  const ColumnErrors errors = errorsKnowing(columns);
  const double allSum = std::accumulate(errors.sum.begin(), errors.sum.end(), 0.0);
  const double allCount = std::accumulate(errors.count.begin(), errors.count.end(), 0.0);
  std::vector<CompletedEntry> entries(row.size());
  for (size_t c = 0; c < row.size(); ++c) {
    CompletedEntry& entry = entries[c];
    if (!isKnown(row[c])) {
      entry = {Origin::kAssumed, known_.range().low, known_.range().width()};
      continue;
    }
    entry.origin = columns[c] ? Origin::kMeasured : Origin::kInferred;
    entry.value = known_.fromUnit(std::clamp(row[c], 0.0, 1.0));
    if (columns[c]) continue;
    // The mean over all columns counts as one more held-out row: a few rows alone would make a column
    // look sure.
    const double error = allCount > 0 ? (errors.sum[c] + allSum / allCount) / (errors.count[c] + 1) : 1;
    entry.expectedError = error * known_.range().width();
  }
  return entries;
}

std::vector<size_t> Completer::mostTelling(const std::vector<std::vector<size_t>>& groups,
                                           size_t count) const {
  std::vector<size_t> chosen;
  std::vector<bool> columns(known_.columns(), false);
  while (chosen.size() < std::min(count, groups.size())) {
    double least = std::numeric_limits<double>::infinity();
    size_t best = groups.size();
    for (size_t g = 0; g < groups.size(); ++g) {
      if (std::find(chosen.begin(), chosen.end(), g) != chosen.end()) continue;
      std::vector<bool> with = columns;
      for (size_t c : groups[g]) with[c] = true;
      const ColumnErrors errors = errorsKnowing(with);
      double left = 0;
      for (size_t c = 0; c < with.size(); ++c) left += errors.sum[c] / std::max(1.0, errors.count[c]);
      if (left < least || best == groups.size()) {
        least = left;
        best = g;
      }
    }
    chosen.push_back(best);
    for (size_t c : groups[best]) columns[c] = true;
  }
  return chosen;
}

Completer::ColumnErrors Completer::errorsKnowing(const std::vector<bool>& columns) const {
  const auto knowsAll = [&columns, this](size_t row) {
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] && !isKnown(sample_.units(row)[c])) return false;
    }
    return true;
  };
  size_t whole = 0;
  for (size_t r = 0; r < sample_.rows(); ++r) whole += knowsAll(r);

  ColumnErrors errors{std::vector<double>(columns.size(), 0), std::vector<double>(columns.size(), 0)};
  std::vector<double> asked(columns.size());
  for (const Fold& fold : folds_) {
    for (size_t r : fold.heldOut) {
      if (whole >= kFewRows && !knowsAll(r)) continue;
      const std::span<const double> row = sample_.units(r);
      for (size_t c = 0; c < columns.size(); ++c) asked[c] = columns[c] ? row[c] : kUnknown;
      fold.model->complete(asked);
      for (size_t c = 0; c < columns.size(); ++c) {
        if (columns[c] || !isKnown(row[c]) || !isKnown(asked[c])) continue;
        errors.sum[c] += std::abs(std::clamp(asked[c], 0.0, 1.0) - row[c]);
        ++errors.count[c];
      }
    }
  }
  return errors;
}

}  // namespace tarcil
