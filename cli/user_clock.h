// The clock of whoever runs this program.
#pragma once

#include "formats/point_in_time.h"

namespace tarcil {

// The machine's time, and the time zone that the environment variable TZ or the machine says.
LocalClock userClock();

}  // namespace tarcil
