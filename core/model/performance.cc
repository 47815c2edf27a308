#include "core/model/performance.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tarcil {

std::string_view name(Metric metric) {
  constexpr std::array<std::string_view, 3> kNames = {"instructions", "reported", "cpu"};
  return kNames[static_cast<size_t>(metric)];
}

std::string_view name(Cause::Kind kind) {
  constexpr std::array<std::string_view, kCauseKinds> kNames = {
      "unknown", "neighbour", "background", "cores", "memory_limit", "hypervisor", "disk", "network"};
  return kNames[static_cast<size_t>(kind)];
}

std::string textOf(const Cause& cause, const std::string& neighbour) {
  std::string text(name(cause.kind));
  if (!neighbour.empty()) text += " " + neighbour;
  if (cause.resource) text += " on " + std::string(kResourceNames[static_cast<size_t>(*cause.resource)]);
  return text;
}

bool isSound(const Reached& reached) {
  return std::isfinite(reached.expected) && reached.expected > 0 && std::isfinite(reached.measured) &&
         reached.measured >= 0;
}

double partOf(const Reached& reached) {
  constexpr double kMost = 100;
  return std::min(kMost, reached.measured / reached.expected);
}

double partOfExpected(const Violation& violation) {
  const double part = violation.measured / violation.expected;
  return part > 0 && violation.expected > 0 ? std::min(1.0, part) : 0;
}

}  // namespace tarcil
