// A job as the queue has it.
#pragma once

#include "formats/json.h"
#include "schema/master.capnp.h"

namespace tarcil {

// As `queue --json` lists it.
Json jsonOfWaiting(wire::WaitingJob::Reader waiting);

}  // namespace tarcil
