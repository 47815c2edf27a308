// Tokens that expire, as people have them: "ID.SECRET", both in hexadecimal digits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarcil {

using TokenSecret = std::array<uint8_t, 32>;

std::string tokenText(uint64_t id, const TokenSecret& secret);

// Which token it would be; nothing for a text that tokenText() does not write.
std::optional<uint64_t> tokenIdOf(std::string_view token);

}  // namespace tarcil
