// A job as lists have it.
#pragma once

#include "formats/json.h"
#include "schema/master.capnp.h"

namespace tarcil {

// As `job list --json` lists it. `isLate`: its tasks are bound late.
Json jsonOfSummary(wire::JobSummary::Reader job, bool isLate);

}  // namespace tarcil
