#include "cli/output/promise.h"

#include <cmath>

#include "cli/output/render.h"
#include "formats/json.h"

namespace tarcil {
namespace {

// "1,000,000".
std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

bool isWhole(double value) {
  return std::abs(value - std::round(value)) < 1e-6;
}

// As many digits as the number was written with.
std::string plain(double value) {
  return Json(value).dump();
}

}  // namespace

std::string rarityText(double rarity) {
  const double oneIn = 1 / rarity;
  if (!isWhole(oneIn)) return plain(100 * rarity) + " % of the free slots";
  const auto slots = static_cast<uint64_t>(std::llround(oneIn));
  return slots == 1 ? "every free slot" : "one free slot in " + grouped(slots);
}

std::string oftenText(double probability) {
  for (uint64_t of = 10; of <= 1'000'000; of *= 10) {
    const double times = probability * static_cast<double>(of);
    if (!isWhole(times)) continue;
    return grouped(static_cast<uint64_t>(std::llround(times))) + " times in " + grouped(of);
  }
  return "with a probability of " + plain(probability);
}

std::string promiseText(const Explanation& why) {
  if (why.rarity == 0) return "not known: decided by an earlier version";
  if (why.sought == 0) return "nothing was left to chance: every task was placed by name";
  const std::string found = std::to_string(why.acceptable) + " of " + std::to_string(why.drawn);
  if (why.allSeen) return "every free slot was looked at: " + found + " are acceptable";
  if (why.limit >= why.freeSlots) {
    return "every free slot may be drawn here, so nothing is left to chance; " + found +
           " drawn are acceptable";
  }
  const double reached = guarantee(why);
  const bool isWhatWasAsked = reached >= why.confidence;
  const std::string often = isWhatWasAsked  ? oftenText(why.confidence)
                            : reached > 0.5 ? "with a probability of " + fixed(reached, 3) + " only"
                                            : "seldom (" + fixed(100 * reached, 1) + " %)";
  const std::string what = why.sought == 1 ? "one is" : "enough for " + counted(why.sought, "task") + " are";
  const std::string limited =
      isWhatWasAsked ? "" : ", because at most " + counted(why.limit, "slot") + " may be drawn";
  return "wherever " + rarityText(why.rarity) + " is acceptable, " + what + " found " + often + limited +
         "; here " + found + " drawn were";
}

}  // namespace tarcil
