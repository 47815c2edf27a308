#include "core/model/encoding.h"

#include <algorithm>
#include <numeric>

namespace tarcil {
namespace {

// Ten decimal digits, that is five base-100 digits: half of an encoded vector, and it fits 64 bits.
constexpr uint64_t kHalf = 10'000'000'000ULL;
constexpr int kDigitsPerHalf = kResources / 2;

}  // namespace

Order orderOf(const Pressure& demand) {
  Order order{};
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::sort(order.begin(), order.end(), [&demand](uint8_t a, uint8_t b) {
    return demand[a] != demand[b] ? demand[a] > demand[b] : a < b;
  });
  return order;
}

Encoded encode(const Pressure& pressure, const Order& order) {
  uint64_t high = 0;
  uint64_t low = 0;
  for (size_t i = 0; i < kDigitsPerHalf; ++i) {
    high = high * 100 + pressure[order[i]];
    low = low * 100 + pressure[order[i + kDigitsPerHalf]];
  }
  return static_cast<Encoded>(high) * kHalf + low;
}

double normalized(Encoded encoded) {
  return static_cast<double>(encoded) / static_cast<double>(kEncodedMax);
}

std::string digits(Encoded encoded) {
  std::string text(2 * kResources, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = static_cast<char>('0' + static_cast<int>(encoded % 10));
    encoded /= 10;
  }
  return text;
}

}  // namespace tarcil
