// Monitors that come and go, the servers they stand for, and what they tell of tasks (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Takes the monitor's servers up and sorts out which tasks both sides know: what the monitor does not know
// was lost, or never arrived and is to be launched again; what the master does not know is dropped.
void attachMonitor(EventContext& context, const MonitorAttached& event);

// Its servers are down at once; their tasks are given until the end of the grace. A session that was
// replaced, or speaks for no monitor, is ignored.
void detachMonitor(EventContext& context, SessionId session);

// Lengthens the lease of a monitor's current session, and says which of the tasks it asks for may not start.
// Nothing is kept of it: the server timeout, which begins no sooner than when the session ends, is longer
// than a lease.
void renewLease(EventContext& context, const LeaseAsked& event);

// Applies the reports of a monitor's current session; refuses those of another, so that the monitor keeps and
// repeats them. A report for an allocation that is not in use on one of its servers changes nothing; a task
// that has started under one is to be stopped.
void takeReports(EventContext& context, const ReportsArrived& event);

// Takes what a monitor measures of the servers that its current session stands for.
void takePressure(EventContext& context, const PressureReported& event);

// Tasks of servers that stayed away beyond their grace are lost.
void loseOverdue(EventContext& context);

}  // namespace tarcil::master
