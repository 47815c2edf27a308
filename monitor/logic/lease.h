// The lease by which tasks of exclusive jobs start and live.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Asks for a renewal where one is due: from time to time, and as soon as a task needs one.
void renewLease(EventContext& context);

// The lease was renewed: tasks that were refused are dropped, the others that were named may start.
void takeRenewal(EventContext& context, const LeaseRenewed& event);

}  // namespace tarcil::monitor
