// Message authentication codes: who has the key knows what others wrote who have it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarcil {

using MacKey = std::array<uint8_t, 32>;

// At random.
MacKey makeMacKey();

// HMAC-SHA-256 of the text: 32 bytes.
std::string macOf(std::string_view text, const MacKey& key);

// In a time that does not depend on `mac`.
bool isMacOf(std::string_view text, const MacKey& key, std::string_view mac);

}  // namespace tarcil
