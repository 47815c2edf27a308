// What sampling promises, in words (Tarcil section 3.3, Eq. 6).
#pragma once

#include <string>

#include "core/state/explain.h"

namespace tarcil {

// "one free slot in 20"; where that is no whole number "3.5 % of the free slots". Requires: 0 < rarity <= 1.
std::string rarityText(double rarity);

// "999 times in 1,000"; with more than six digits "with a probability of 0.9999999". Requires: 0 <
// probability < 1.
std::string oftenText(double probability);

// The promise of one decision and what it found: "wherever one free slot in 20 is acceptable, one is found
// 999 times in 1,000; here 3 of 8 drawn were".
std::string promiseText(const Explanation& why);

}  // namespace tarcil
