// Numbers for late binding that rise with every start of a monitor.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

// The first of this start (LateMonitorOptions::firstLease), kept in the folder for the next. By the clock,
// 10,000 a second, which is more leases than a server makes; where the clock has been set back, far above the
// last. kInvalid where the folder cannot be read or written.
Result<uint64_t> nextLateStart(const std::string& folder, WallTime now);

}  // namespace tarcil
