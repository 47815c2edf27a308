// Signatures: who has the public key knows what the owner of the private one wrote, and cannot write so
// itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tarcil {

using PublicKey = std::array<uint8_t, 32>;

// A pair of keys of Ed25519 (RFC 8032), of which the private one never leaves this object.
class SigningKey final {
 public:
  // At random.
  SigningKey();
  ~SigningKey();
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;

  const PublicKey& publicKey() const { return public_; }
  // Of the text: 64 bytes. Takes some 50 us.
  std::string sign(std::string_view text) const;

 private:
  friend bool isSignatureOf(std::string_view text, const PublicKey& key, std::string_view signature);
  struct Pair;
  std::unique_ptr<Pair> pair_;
  PublicKey public_{};
};

// Takes some 130 us.
bool isSignatureOf(std::string_view text, const PublicKey& key, std::string_view signature);

}  // namespace tarcil
