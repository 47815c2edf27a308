// Whether what a monitor registers is within bounds: the master stores it, and tells it to every agent.
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/state/server.h"

namespace tarcil {

// That an operator gives a server; its monitor adds some that it finds out.
inline constexpr size_t kMaxOwnAttributes = 20;
inline constexpr size_t kMaxAttributes = kMaxOwnAttributes + 12;

inline constexpr size_t kMaxAddressBytes = 256;

// Things that a machine lacks, and bytes of the name of each.
inline constexpr size_t kMaxMissing = 64, kMaxMissingBytes = 256;

// Invalid, with the server, the field and what fits.
Status checkFacts(const ServerFacts& facts);

// Whether an attribute may have this value: text of at most kMaxNameCharacters without control characters.
bool isAttributeValue(std::string_view value);

}  // namespace tarcil
