// Bytes that nobody is to find in memory once they are done with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tarcil {

// Zeros in their place, whatever the compiler thinks of memory that is not read again.
void overwrite(std::span<uint8_t> bytes);

// A value of a secret. Copies are independent; each overwrites its memory at its end.
class SecretBytes final {
 public:
  SecretBytes() = default;
  // Zeros, to be filled in.
  explicit SecretBytes(size_t size) : bytes_(size) {}
  explicit SecretBytes(std::span<const uint8_t> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  explicit SecretBytes(std::string_view text) : bytes_(text.begin(), text.end()) {}
  SecretBytes(const SecretBytes&) = default;
  SecretBytes(SecretBytes&&) noexcept = default;
  // What was there goes with `other`.
  SecretBytes& operator=(SecretBytes other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretBytes() { overwrite(bytes_); }

  size_t size() const { return bytes_.size(); }
  std::span<const uint8_t> bytes() const { return bytes_; }
  std::span<uint8_t> bytes() { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

  bool operator==(const SecretBytes&) const = default;

 private:
  std::vector<uint8_t> bytes_;  // of its size from the beginning on: none is left behind where it grows
};

}  // namespace tarcil
