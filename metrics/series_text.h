// A gauge with thousands of series that come and go, as text in Prometheus' format. The registry
// (metric_set.h) takes microseconds for each series it reads, and keeps all of them; this takes a fifth of
// one, and keeps the text alone.
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
