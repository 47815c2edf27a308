// What the master remembers of a machine that joined, or may join, as it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/secret_bytes.h"
#include "core/base/time.h"
#include "identity/logic/identity.h"
#include "identity/logic/join_word.h"

namespace tarcil {

// How long certificates are good where nothing else is said.
inline constexpr Duration kCertificateLife = std::chrono::days(7);
// A certificate is valid so much before it was made: clocks of other machines may be behind.
inline constexpr Duration kClockSlack = std::chrono::minutes(1);

struct MemberCertificate {
  uint64_t serial = 0;
  WallTime from{}, until{};
  bool isRevoked = false;

  bool operator==(const MemberCertificate&) const = default;
};

// A word that is out and was not used.
struct Invitation {
  Sha256 word{};  // of its text
  WallTime until{};

  bool operator==(const Invitation&) const = default;
};

struct MemberRecord {
  MemberRole role = MemberRole::kMonitor;
  std::string name;
  std::optional<Invitation> invitation{};
  std::vector<MemberCertificate> certificates{};  // that have not expired, the oldest first

  bool operator==(const MemberRecord&) const = default;
};

// What all masters of a cluster have. Whoever has it has the cluster.
struct MasterKeys {
  std::string authority;  // key of the authority, PEM
  std::string tokens;     // the file of tokens, as it is
  SecretBytes secrets{};  // the file of keys for secrets, as it is; empty: there is none

  bool operator==(const MasterKeys&) const = default;
};

}  // namespace tarcil
