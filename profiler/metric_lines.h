// Finds what a command reports in its output. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// Lines that begin with the metric's name, then any of space, ':' and '=', then a number: "ops/s: 1234.5".
// The rest of the line does not matter. What comes after the 4,096th byte of a line is not looked at.
class MetricLines final {
 public:
  explicit MetricLines(std::string name) : name_(std::move(name)) {}

  // The next piece of the output, which came `at` seconds after the start. Requires: `at` is not negative.
  void take(std::string_view piece, double at);
  // The output has ended: also without a newline.
  void end(double at);

  // Mean of what was reported `from` so many seconds on, to the nearest 50 ms; nullopt: nothing was.
  std::optional<double> meanSince(double from) const;
  uint64_t samples() const;

 private:
  std::string name_;
  std::string line_;
  // Of each 50 ms: a command that reports without end takes no more memory than its time.
  struct Sum {
    double value = 0;
    uint64_t count = 0;
  };
  std::vector<Sum> sums_;
};

}  // namespace tarcil
