// A gauge with thousands of series that come and go, as text in Prometheus' format. The registry
// (metric_set.h) keeps an object for each series, and copies all of them to be read at once; here there is
// nothing but the text, at a tenth of a microsecond a series (docs/benchmarks.md).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tarcil {

class SeriesText final {
 public:
  using Label = std::pair<std::string_view, std::string_view>;  // name, value: any UTF-8

  // `help`: without line breaks and backslashes.
  SeriesText(std::string name, std::string_view help);

  // Requires: no two series have the same labels.
  void add(std::initializer_list<Label> labels, double value);

  const std::string& text() const { return text_; }

 private:
  const std::string name_;
  std::string text_;
};

}  // namespace tarcil
