// Bytes and numbers as hexadecimal digits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tarcil {

// Lower case, two digits a byte.
std::string hexOf(std::span<const uint8_t> bytes);

// 16 digits.
std::string hexOf(uint64_t number);

// Nothing but exactly what hexOf() writes is read.
std::optional<uint64_t> numberInHex(std::string_view text);
bool readHex(std::string_view text, std::span<uint8_t> to);

template <size_t size>
std::optional<std::array<uint8_t, size>> bytesInHex(std::string_view text) {
  std::array<uint8_t, size> bytes;
  if (!readHex(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace tarcil
