#include "core/model/encoding.h"

namespace tarcil {
namespace {

// Ten decimal digits, that is five base-100 digits: half of an encoded vector, and it fits 64 bits.
constexpr uint64_t kHalf = 10'000'000'000ULL;
constexpr int kDigitsPerHalf = kResources / 2;

}  // namespace

Order orderOf(const Pressure& demand) {
  // A resource stands behind each one of a smaller key. Counting those for all resources at once, in vectors,
  // is several times as quick as sorting ten numbers.
  std::array<uint16_t, kResources> keys{}, places{};
  for (size_t i = 0; i < kResources; ++i) {
    keys[i] = static_cast<uint16_t>((kMaxPressure - demand[i]) * 16 + static_cast<int>(i));
  }
  for (size_t other = 0; other < kResources; ++other) {
    for (size_t i = 0; i < kResources; ++i) {
      places[i] = static_cast<uint16_t>(places[i] + (keys[other] < keys[i] ? 1 : 0));
    }
  }
  Order order{};
  for (size_t i = 0; i < kResources; ++i) order[places[i]] = static_cast<uint8_t>(i);
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
