// Order-preserving encoding of a vector of pressures into one number (Tarcil section 3.2, Eq. 1).
#pragma once

#include <string>

#include "core/model/resources.h"

namespace tarcil {

// Resource indexes from the most critical to the least.
using Order = std::array<uint8_t, kResources>;

// Ten base-100 digits, most critical first: at most 10^20 - 1, which 64 bits do not hold and a double does
// not order.
__extension__ using Encoded = unsigned __int128;

// 10^20 - 1.
inline constexpr Encoded kEncodedMax =
    static_cast<Encoded>(9'999'999'999ULL) * 10'000'000'000ULL + 9'999'999'999ULL;

// Sorts resources by falling demand; ties go to the lower index.
Order orderOf(const Pressure& demand);

// The pressures as base-100 digits in the given order. Requires: every pressure <= 99.
Encoded encode(const Pressure& pressure, const Order& order);

// encoded / (10^20 - 1), in [0, 1]. For reports: comparisons use the exact value.
double normalized(Encoded encoded);

// Exactly 20 decimal digits.
std::string digits(Encoded encoded);

}  // namespace tarcil
