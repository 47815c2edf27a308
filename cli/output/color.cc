#include "cli/output/color.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tarcil {
namespace {

constexpr std::array<std::string_view, 4> kGoodStates = {"running", "done", "up", "active"};
constexpr std::array<std::string_view, 9> kWaitingStates = {
    "queued", "starting", "cordoned", "draining", "drained", "quarantined", "shielded", "due", "held"};
constexpr std::array<std::string_view, 3> kBadStates = {"failed", "lost", "down"};

constexpr std::string_view kReset = "\033[0m";

ColorMode& mode() {
  static ColorMode mode = ColorMode::kAuto;
  return mode;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view codeOf(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kHeading:
      return "\033[1m";
    case Paint::kGood:
      return "\033[32m";
    case Paint::kWaiting:
      return "\033[33m";
    case Paint::kBad:
      return "\033[31m";
  }
  return "";
}

}  // namespace

void setColorMode(ColorMode to) {
  mode() = to;
}

bool isColored() {
  if (mode() != ColorMode::kAuto) return mode() == ColorMode::kAlways;
  return ::isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb" && variable("NO_COLOR").empty();
}

Paint paintOfState(std::string_view state) {
  const auto isIn = [word = state.substr(0, state.find_first_of(" ,;:"))](const auto& words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (isIn(kGoodStates)) return Paint::kGood;
  if (isIn(kWaitingStates)) return Paint::kWaiting;
  return isIn(kBadStates) ? Paint::kBad : Paint::kPlain;
}

std::string painted(std::string_view text, Paint paint) {
  const std::string_view code = codeOf(paint);
  if (code.empty() || text.empty()) return std::string(text);
  return std::string(code).append(text).append(kReset);
}

}  // namespace tarcil
