#include "profiler/metric_lines.h"

#include <charconv>
#include <cmath>

namespace tarcil {
namespace {

constexpr size_t kMaxLine = 4096;
constexpr double kSpan = 0.05;  // seconds of one sum

std::optional<double> numberAfter(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  const size_t start = line.find_first_not_of(" \t:=");
  if (start == std::string_view::npos || start == 0) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(line.data() + start, line.data() + line.size(), value);
  return error == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

void MetricLines::take(std::string_view piece, double at) {
  while (!piece.empty()) {
    const size_t newline = piece.find('\n');
    const std::string_view part = piece.substr(0, newline);
    if (line_.size() < kMaxLine) line_.append(part.substr(0, kMaxLine - line_.size()));
    if (newline == std::string_view::npos) return;
    end(at);
    piece.remove_prefix(newline + 1);
  }
}

void MetricLines::end(double at) {
  if (const auto value = numberAfter(line_, name_)) {
    const auto span = static_cast<size_t>(at / kSpan);
    if (sums_.size() <= span) sums_.resize(span + 1);
    sums_[span].value += *value;
    ++sums_[span].count;
  }
  line_.clear();
}

std::optional<double> MetricLines::meanSince(double from) const {
  Sum sum;
  for (auto span = static_cast<size_t>(std::lround(from / kSpan)); span < sums_.size(); ++span) {
    sum.value += sums_[span].value;
    sum.count += sums_[span].count;
  }
  return sum.count > 0 ? std::optional(sum.value / static_cast<double>(sum.count)) : std::nullopt;
}

uint64_t MetricLines::samples() const {
  uint64_t count = 0;
  for (const Sum& sum : sums_) count += sum.count;
  return count;
}

}  // namespace tarcil
