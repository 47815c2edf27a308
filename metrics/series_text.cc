#include "metrics/series_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tarcil {
namespace {

void appendEscaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
}

void appendNumber(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";  // of which std::to_chars writes the sign, which Prometheus does not read
    return;
  }
  std::array<char, 32> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

}  // namespace

SeriesText::SeriesText(std::string name, std::string_view help) : name_(std::move(name)) {
  text_.append("# HELP ").append(name_).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name_).append(" gauge\n");
}

void SeriesText::add(std::initializer_list<Label> labels, double value) {
  text_ += name_;
  char separator = '{';
  for (const auto& [label, text] : labels) {
    text_ += separator;
    text_.append(label).append("=\"");
    appendEscaped(text_, text);
    text_ += '"';
    separator = ',';
  }
  if (labels.size() > 0) text_ += '}';
  text_ += ' ';
  appendNumber(text_, value);
  text_ += '\n';
}

}  // namespace tarcil
