#include "core/decide/options.h"

#include <array>
#include <charconv>

#include "core/state/claim.h"

namespace tarcil {
namespace {

// The shortest decimal text that reads back as the same number.
std::string text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string outOfRange(const std::string& field, const std::string& value, const std::string& remedy) {
  return field + ": " + value + " is out of range; write " + remedy;
}

void checkWhole(std::vector<std::string>& found, const std::string& field, int64_t value, int64_t low,
                int64_t high) {
  if (value >= low && value <= high) return;
  const std::string remedy = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  found.push_back(outOfRange(field, std::to_string(value), remedy));
}

}  // namespace

std::vector<std::string> problems(const QualitySettings& settings) {
  std::vector<std::string> found;
  // Negated, so that a value that is not a number fails too.
  if (!(settings.target > 0 && settings.target <= 1)) {
    found.push_back(
        outOfRange("target", text(settings.target), "a number above 0 and at most 1, such as 0.95"));
  }
  if (!(settings.confidence > 0 && settings.confidence < 1)) {
    found.push_back(
        outOfRange("confidence", text(settings.confidence), "a number between 0 and 1, such as 0.999"));
  }
  if (!(settings.rarity >= kMinRarity && settings.rarity <= 1)) {
    found.push_back(outOfRange("rarity", text(settings.rarity), "a number from 0.0001 to 1, such as 0.05"));
  }
  if (settings.cap) checkWhole(found, "cap", *settings.cap, 1, kMaxCap);
  checkWhole(found, "floor", settings.floor, 1, kMaxFloor);
  if (settings.ratio) checkWhole(found, "ratio", *settings.ratio, 1, kMaxRatio);
  checkWhole(found, "margin", settings.margin, 0, kMaxPressure);
  checkWhole(found, "noise_floor", settings.noiseFloor, 0, kMaxPressure);
  if (!(settings.neighbourFloor >= kMinNeighbourFloor && settings.neighbourFloor <= 1)) {
    found.push_back(
        outOfRange("neighbour_floor", text(settings.neighbourFloor), "a number from 0.01 to 1, such as 0.1"));
  }
  return found;
}

}  // namespace tarcil
