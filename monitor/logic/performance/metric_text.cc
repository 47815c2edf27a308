#include "monitor/logic/performance/metric_text.h"

#include <charconv>
#include <cmath>

#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {
namespace {

std::optional<double> valueIn(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Result<std::optional<double>> metricIn(std::string_view text) {
  if (text.size() > kMaxMetricBytes) return invalid("longer than 4096 bytes");
  std::optional<double> last;
  size_t number = 0;
  for (std::string_view line : linesOf(text)) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto fields = fieldsOf(line);
    if (fields.empty()) continue;
    const auto value = fields.size() <= 2 ? valueIn(fields.back()) : std::nullopt;
    if (!value) return invalid("line " + std::to_string(number) + ": neither VALUE nor NAME VALUE");
    last = value;
  }
  return last;
}

}  // namespace tarcil
