// The word with which a new machine joins a cluster: what an operator copies from one terminal to the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "identity/logic/identity.h"

namespace tarcil {

// SHA-256.
using Sha256 = std::array<uint8_t, 32>;

// Takes the same time wherever they differ.
bool isSameSecret(const Sha256& a, const Sha256& b);

// It works once. The master keeps nothing of it but its digest, so whoever reads the store cannot join.
struct JoinWord {
  MemberRole role = MemberRole::kMonitor;
  std::string name;
  WallTime until{};    // whole seconds
  Sha256 authority{};  // of the cluster's authority, which the new machine so knows before it sends anything
  std::array<uint8_t, 16> secret{};

  bool operator==(const JoinWord&) const = default;
};

// "ROLE:NAME:UNTIL:AUTHORITY:SECRET:CHECK": the time in seconds since 1970, the rest in hexadecimal digits.
// CHECK tells a slip of the finger.
std::string textOf(const JoinWord& word);

// Invalid for all that textOf() does not write; says whether it is cut short or mistyped, and shows nothing
// of it.
Result<JoinWord> parseJoinWord(std::string_view text);

// Invalid where the word's time is over by this clock.
Status checkTime(const JoinWord& word, WallTime now);

}  // namespace tarcil
