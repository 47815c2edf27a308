// The attachment to the master: what carries over from one to the next, and what starts over.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// The master accepted the monitor and said what is to become of its tasks. Permissions to start, reports and
// requests for files of the previous attachment count as lost.
void attach(EventContext& context, const MasterAttached& event);

// The connection is lost; tasks continue to run, and none of them throttled.
void lose(EventContext& context);

}  // namespace tarcil::monitor
