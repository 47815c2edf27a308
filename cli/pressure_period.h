// The values of --pressure-period and --performance-period.
#pragma once

#include <string>

#include "core/base/time.h"

namespace tarcil {

// "off" is 0; otherwise a duration from 100 ms to an hour. Throws bad input that names the flag.
Duration pressurePeriodOf(const std::string& text);

// As above, without "off": a job that wants to be watched says so.
Duration performancePeriodOf(const std::string& text);

}  // namespace tarcil
