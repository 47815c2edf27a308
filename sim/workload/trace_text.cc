#include "sim/workload/trace_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tarcil::sim {

TraceText::TraceText(std::string_view text, std::string file, Separator separator)
    : rest_(text), file_(std::move(file)), separator_(separator) {}

bool TraceText::next(std::optional<char> comment) {
  while (!rest_.empty()) {
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || (comment && line[first] == *comment)) continue;
    cut(line);
    return true;
  }
  fields_.clear();
  return false;
}

void TraceText::cut(std::string_view line) {
  fields_.clear();
  const std::string_view separators = separator_ == Separator::kBlanks ? " \t"
                                      : separator_ == Separator::kTab  ? "\t"
                                                                       : ",";
  for (size_t at = 0;;) {
    if (separator_ == Separator::kBlanks) {
      at = line.find_first_not_of(separators, at);
      if (at == std::string_view::npos) return;
    }
    const size_t end = std::min(line.find_first_of(separators, at), line.size());
    fields_.push_back({line.substr(at, end - at), at + 1});
    if (end == line.size()) return;
    at = end + 1;
  }
}

bool TraceText::require(size_t count) {
  if (fields_.size() == count) return true;
  problem(fields_.size(), "line",
          "has " + std::to_string(fields_.size()) + " fields; write " + std::to_string(count));
  return false;
}

std::optional<int64_t> TraceText::integer(size_t index, std::string_view name, int64_t least, int64_t most) {
  const std::string_view text = fields_[index].text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  problem(index, name,
          "is " + inQuotes(text) + "; write a whole number from " + std::to_string(least) + " to " +
              std::to_string(most));
  return std::nullopt;
}

std::optional<double> TraceText::number(size_t index, std::string_view name, const NumberRange& range) {
  const std::string_view text = fields_[index].text;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && range.holds(value)) return value;
  problem(index, name, "is " + inQuotes(text) + "; write a number " + range.describe());
  return std::nullopt;
}

void TraceText::problem(size_t index, std::string_view name, std::string_view text) {
  if (++problems_ > kMaxProblems) return;
  const size_t column = index < fields_.size() ? fields_[index].column : 1;
  if (!found_.empty()) found_ += '\n';
  found_.append(file_).append(":").append(std::to_string(line_)).append(":").append(std::to_string(column));
  found_.append(": ").append(name).append(": ").append(text);
}

Status TraceText::verdict() const {
  if (problems_ == 0) return {};
  std::string text = found_;
  if (problems_ > kMaxProblems) {
    text += "\n" + file_ + ": and " + std::to_string(problems_ - kMaxProblems) +
            " more problems; mend those above first";
  }
  return invalid(std::move(text));
}

std::string inQuotes(std::string_view text) {
  constexpr size_t kMax = 40;
  std::string shown = "'";
  for (char c : text.substr(0, kMax)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > kMax ? "...'" : "'");
}

}  // namespace tarcil::sim
