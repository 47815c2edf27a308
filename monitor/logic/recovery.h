// Tasks that the monitor's predecessor left.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Takes over one task as the executor found it (RecoveredTask::State); what its predecessor had begun to end
// is ended. Called before the first event.
void adopt(EventContext& context, const RecoveredTask& recovered);

}  // namespace tarcil::monitor
