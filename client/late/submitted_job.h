// A job of tarcil/late_binding.h as the session with an agent takes it.
#pragma once

#include "client/late/late_client.h"
#include "tarcil/late_binding.h"

namespace tarcil {

// With an id of its own. Throws std::invalid_argument, naming the field and what to write instead.
LateClientJob lateClientJob(const LateBindingJob& job);

}  // namespace tarcil
