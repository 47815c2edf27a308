// TCP ports of loopback that nobody listens at.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// The one that is wanted where nobody has it, else any; 0: any. Invalid, naming what it is for, where there
// is none.
Result<uint16_t> freePort(uint16_t wanted, const char* purpose);

// So many that differ.
Result<std::vector<uint16_t>> freePorts(size_t count, const char* purpose);

}  // namespace tarcil
