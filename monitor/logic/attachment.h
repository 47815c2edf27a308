// The attachment to the master: what holds over from one to the next, and what begins anew.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// The master took the monitor in and said what is to become of its tasks. Permissions to start, reports and
// requests for files of the attachment before count as lost.
void attach(EventContext& context, const MasterAttached& event);

// The connection is lost: tasks run on.
void lose(Tables& tables);

}  // namespace tarcil::monitor
