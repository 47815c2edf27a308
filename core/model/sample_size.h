// How many slots to sample (Tarcil section 3.3, Eq. 6). p is the share of free slots that are feasible and
// acceptable; confidence = 1 - eps. Numerically safe for p -> 0, p -> 1 and m up to 10^5.
#pragma once

#include <cstdint>
#include <optional>

namespace tarcil {

// Smallest number of draws n with P[Bin(n, p) >= m] >= confidence; for m = 1 the closed form ceil(ln(eps) /
// ln(1 - p)). nullopt where no number below 2^53 does (p = 0). Requires: 0 <= p <= 1, 0 < confidence < 1, m
// >= 1.
std::optional<uint64_t> drawsNeeded(double p, double confidence, uint32_t m);

// P[Bin(draws, p) >= m]: what `draws` samples guarantee.
double guarantee(double p, uint64_t draws, uint32_t m);

// Lower confidence bound of p after `acceptable` of `drawn` (Clopper-Pearson, one-sided).
// Requires: acceptable <= drawn, 0 < confidence < 1. 0 where nothing was acceptable.
double lowerBound(uint64_t acceptable, uint64_t drawn, double confidence);

}  // namespace tarcil
