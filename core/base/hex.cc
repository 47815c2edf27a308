#include "core/base/hex.h"

namespace tarcil {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string hexOf(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

std::string hexOf(uint64_t number) {
  std::array<uint8_t, sizeof number> bytes;
  for (size_t i = bytes.size(); i-- > 0; number >>= 8) bytes[i] = static_cast<uint8_t>(number);
  return hexOf(bytes);
}

bool readHex(std::string_view text, std::span<uint8_t> to) {
  if (text.size() != 2 * to.size()) return false;
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t high = kDigits.find(text[2 * i]), low = kDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    to[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

std::optional<uint64_t> numberInHex(std::string_view text) {
  const auto bytes = bytesInHex<sizeof(uint64_t)>(text);
  if (!bytes) return std::nullopt;
  uint64_t number = 0;
  for (const uint8_t byte : *bytes) number = number << 8 | byte;
  return number;
}

}  // namespace tarcil
