// A checksum over the states of servers, by which two copies of the shared state are compared.
#pragma once

#include <cstdint>

#include "core/state/server.h"

namespace tarcil {

// Of a whole state: the sums of those of its servers, modulo 2^64. So it does not depend on their order, and
// follows a change of one server by a subtraction and an addition.
struct StateChecksum {
  uint64_t statuses = 0;
  uint64_t facts = 0;

  bool operator==(const StateChecksum&) const = default;
};

// Of one server at one version. Part of the protocol, as the next: the same in every process. `quarantined`
// and `residents` do not count: not every build tells them. Some 50 ns.
uint64_t checksumOf(ServerId server, const ServerStatus& status);

// Of one server's facts. Some 300 ns.
uint64_t checksumOf(ServerId server, const ServerFacts& facts);

}  // namespace tarcil
