#include "formats/metrics_text.h"

#include <cstdlib>
#include <optional>

namespace tarcil {
namespace {

// Takes the text up to `end`, and `end`, off the front; nothing where `end` is not there.
std::optional<std::string_view> takeUntil(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return taken;
}

// A quoted value without its first quote: takes it and the last one off the front.
std::optional<std::string> takeValue(std::string_view& text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

std::optional<MetricSample> sampleOf(std::string_view line) {
  MetricSample sample;
  const size_t end = line.find_first_of("{ ");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  sample.name = line.substr(0, end);
  const bool hasLabels = line[end] == '{';
  line.remove_prefix(end + 1);
  while (hasLabels && !line.starts_with('}')) {
    const auto label = takeUntil(line, "=\"");
    if (!label) return std::nullopt;
    auto value = takeValue(line);
    if (!value) return std::nullopt;
    sample.labels.emplace(*label, std::move(*value));
    if (line.starts_with(',')) line.remove_prefix(1);
  }
  if (hasLabels) line.remove_prefix(1);
  const std::string number(line);
  char* rest = nullptr;
  sample.value = std::strtod(number.c_str(), &rest);
  if (rest == number.c_str()) return std::nullopt;
  return sample;
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (const auto line = takeUntil(text, "\n")) lines.push_back(*line);
  if (!text.empty()) lines.push_back(text);
  return lines;
}

}  // namespace

std::vector<MetricSample> parseMetrics(std::string_view text) {
  std::vector<MetricSample> samples;
  for (std::string_view line : linesOf(text)) {
    if (line.starts_with('#')) continue;
    if (auto sample = sampleOf(line)) samples.push_back(std::move(*sample));
  }
  return samples;
}

std::map<std::string, MetricDescription> describedMetrics(std::string_view text) {
  constexpr std::string_view kHelp = "# HELP ", kType = "# TYPE ";
  std::map<std::string, MetricDescription> metrics;
  for (std::string_view line : linesOf(text)) {
    const bool isHelp = line.starts_with(kHelp);
    if (!isHelp && !line.starts_with(kType)) continue;
    line.remove_prefix(isHelp ? kHelp.size() : kType.size());
    if (const auto name = takeUntil(line, " ")) {
      MetricDescription& metric = metrics[std::string(*name)];
      (isHelp ? metric.help : metric.type) = line;
    }
  }
  return metrics;
}

}  // namespace tarcil
