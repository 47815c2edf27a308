// The order in which jobs were submitted.
#pragma once

#include <set>
#include <utility>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil::master {

// Ids by time of submission, oldest first.
using ByAge = std::set<std::pair<WallTime, JobId>>;

}  // namespace tarcil::master
