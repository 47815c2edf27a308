// Texts that only those with the same key can have made, and read: words and cookies (AES-256-GCM, RFC 5116).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil::gateway {

class Seal final {
 public:
  static constexpr size_t kKeyBytes = 32;
  using Key = std::array<uint8_t, kKeyBytes>;

  explicit Seal(const Key& key) : key_(key) {}

  // A key of this process alone.
  static Key randomKey();
  // The key in a file of 64 hexadecimal digits, which only its owner may read. Invalid where it is no such
  // file.
  static Result<Key> readKey(const std::string& path);

  // Letters, digits, - and _ only. Another one each time.
  std::string sealed(std::string_view text) const;
  // Nothing for what was not sealed with this key.
  std::optional<std::string> opened(std::string_view sealed) const;

 private:
  const Key key_;
};

// 128 random bits, as letters, digits, - and _.
std::string randomId();

}  // namespace tarcil::gateway
