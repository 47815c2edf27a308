// Whether a machine was left alone while something was measured on it.
#pragma once

#include <optional>
#include <string>

namespace tarcil {

// Counts from its construction on.
class Quietness final {
 public:
  explicit Quietness(std::string stat = "/proc/stat");

  // The share of all cores' time, in [0, 1], that neither this process and what it started and waited for
  // used nor was idle: other programs, and other guests of a hypervisor. nullopt where the machine does
  // not say.
  std::optional<double> usedByOthers() const;

 private:
  struct Times {
    double busy = 0, all = 0;  // seconds
  };
  std::optional<Times> read() const;

  const std::string stat_;
  const std::optional<Times> start_;
  const double ownStart_;
};

// More than this is worth a warning.
inline constexpr double kQuiet = 0.05;

}  // namespace tarcil
