// A checksum over the states of servers, by which two copies of the shared state are compared.
#pragma once

#include <cstdint>

#include "core/state/server.h"

namespace tarcil {

// Of one server at one version: everything of the status, but no facts. The checksum of a whole state is the
// sum of those of its servers, modulo 2^64: so it does not depend on their order, and follows a change of one
// server by a subtraction and an addition. Part of the protocol: the same in every process. Some 50 ns.
uint64_t checksumOf(ServerId server, const ServerStatus& status);

}  // namespace tarcil
