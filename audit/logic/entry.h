// What the audit log says of a change that somebody wanted, or of one that was refused.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"

namespace tarcil::audit {

// In place of an address: a Unix socket of the master's.
inline constexpr const char* kThisMachine = "unix";

// Whose word it was. Empty fields: not known, or nobody's.
struct Requester {
  std::string user{};  // or the name of a machine
  std::string
      knownBy{};        // what they showed: "token ID", "file of tokens", "uid", "certificate ROLE/NAME", ...
  std::string agent{};  // through which they came, and whose word the above is then
  std::string address{};  // of the connection that reached the master, or kThisMachine

  bool operator==(const Requester&) const = default;
};

// The outcome of what changed something, and of what was granted and changed nothing; of what was refused it
// is the name of the error's code (core/base/result.h).
inline constexpr const char* kAccepted = "accepted";
inline constexpr const char* kUnchanged = "unchanged";

// No text has a secret: no token, environment or content of a file.
struct Entry {
  WallTime time{};
  Requester by{};
  std::string action{};  // such as "job.cancel": docs/audit.md lists them
  std::string object{};  // such as "job 4711"
  std::string outcome = kAccepted;
  std::string detail{};
  uint64_t count = 1;  // how many alike it stands for

  bool operator==(const Entry&) const = default;
};

// Longer texts of an entry are cut.
inline constexpr size_t kMaxText = 512;

}  // namespace tarcil::audit
