// A secret as the master keeps it: sealed, with who may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace tarcil {

// What only whoever has a key of the master's can read (secrets/sealing.h). By AES-256-GCM.
struct SealedValue {
  static constexpr size_t kNonceBytes = 12;
  static constexpr size_t kTagBytes = 16;

  std::string key{};                         // id of the key that it is sealed with
  std::array<uint8_t, kNonceBytes> nonce{};  // random, of this value alone
  std::string bytes{};                       // as many as the value has, and the tag

  bool operator==(const SealedValue&) const = default;
};

// Whose jobs get it. Its owner's do without.
struct SecretGrant {
  std::string user;         // empty: everybody's
  std::string application;  // that the job says it runs; empty: any

  auto operator<=>(const SecretGrant&) const = default;
};

struct SecretRecord {
  std::string owner;  // a user
  std::string name;   // unique among its owner's
  std::vector<SecretGrant> grants{};
  SealedValue value{};
  uint64_t version = 1;  // rises with each value
  WallTime changed{};    // when it got this one

  bool operator==(const SecretRecord&) const = default;
};

// "ann/db-password", as people name it.
inline std::string fullName(const std::string& owner, const std::string& name) {
  return owner + "/" + name;
}

}  // namespace tarcil
