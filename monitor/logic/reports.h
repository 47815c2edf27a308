// What the master has to be told of tasks, until it has it on disk.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// The task's start or end is to be reported. A repeat changes nothing.
void queueReport(Tables& tables, Task& task);

// Sends what is due where the master is attached and no message is under way: one at a time keeps
// their order.
void sendReports(EventContext& context);

// The message under way is durable at the master: tasks whose end it told are forgotten.
void acknowledgeReports(EventContext& context);

// A new attachment: a message that was under way counts as lost, and everything is reported anew.
void reportAnew(Tables& tables);

}  // namespace tarcil::monitor
