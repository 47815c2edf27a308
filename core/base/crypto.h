// What the users of a library of cryptography have in common.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tarcil {

// Without memory, or a source of randomness, nothing can be signed or kept secret.
inline void requireCrypto(bool holds) {
  if (!holds) std::abort();
}

inline const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace tarcil
