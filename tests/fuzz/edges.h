// Values at the ends of what fields can hold, where readers go wrong.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/base/rng.h"

namespace tarcil::fuzz {

inline constexpr int64_t kEdgeIntegers[] = {0,
                                            1,
                                            -1,
                                            2,
                                            10,
                                            16,
                                            99,
                                            100,
                                            127,
                                            128,
                                            255,
                                            256,
                                            4'095,
                                            4'096,
                                            4'097,
                                            32'767,
                                            32'768,
                                            65'535,
                                            65'536,
                                            100'000,
                                            100'001,
                                            INT32_MAX,
                                            INT32_MIN,
                                            UINT32_MAX,
                                            INT64_MAX,
                                            INT64_MIN,
                                            INT64_MAX / 1'000,
                                            INT64_MIN / 1'000};

inline constexpr double kEdgeNumbers[] = {0,
                                          -0.0,
                                          1,
                                          -1,
                                          0.5,
                                          1 + 1e-9,
                                          1e-9,
                                          99.5,
                                          1e18,
                                          1e308,
                                          -1e308,
                                          std::numeric_limits<double>::denorm_min(),
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};

// As texts, for files.
inline constexpr std::string_view kEdgeTexts[] = {"",
                                                  "0",
                                                  "-0",
                                                  "1",
                                                  "-1",
                                                  "99",
                                                  "100",
                                                  "0.5",
                                                  "1.5",
                                                  "4096",
                                                  "100000",
                                                  "4294967295",
                                                  "4294967296",
                                                  "9223372036854775807",
                                                  "-9223372036854775808",
                                                  "18446744073709551616",
                                                  "1e18",
                                                  "1e308",
                                                  "1e309",
                                                  "-1e308",
                                                  "1e-320",
                                                  "nan",
                                                  "NaN",
                                                  ".nan",
                                                  "inf",
                                                  "-.inf",
                                                  "0x10",
                                                  "1_000",
                                                  "null",
                                                  "~",
                                                  "true",
                                                  "10%",
                                                  "100%",
                                                  "0s",
                                                  "9223372036854775807s",
                                                  "3651d",
                                                  "1us",
                                                  "16EiB",
                                                  "1B",
                                                  "+2h",
                                                  "1970-01-01T00:00:00Z",
                                                  "9999-12-31T23:59:59.999999Z",
                                                  "../../etc/passwd",
                                                  "/dev/null",
                                                  "a b",
                                                  "a=b",
                                                  "a,b",
                                                  "gpu in (a, b)",
                                                  "\xc3\xa4",
                                                  "\x1b[31m"};

template <typename T, size_t kCount>
const T& oneOf(const T (&values)[kCount], Rng& rng) {
  return values[rng.below(kCount)];
}

}  // namespace tarcil::fuzz
