// Whole numbers as people and programs write them.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace tarcil {

// What the text is, all of it, in decimal digits; nothing where it is anything else, or does not fit.
template <typename Number>
std::optional<Number> wholeNumberIn(std::string_view text) {
  static_assert(std::is_unsigned_v<Number>);
  Number number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace tarcil
