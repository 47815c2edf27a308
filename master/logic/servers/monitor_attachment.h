// Monitors that attach and detach, the servers they stand for, and their reports on tasks (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Brings the monitor's servers up and reconciles the tasks: one that the monitor does not know was lost, or
// its launch never arrived and is repeated; one that the master does not know is dropped.
void attachMonitor(EventContext& context, const MonitorAttached& event);
void attachMoreServers(EventContext& context, const MoreServersAttached& event);

// Its servers are down at once; their tasks are lost when the server timeout has passed. A session that was
// replaced, or speaks for no monitor, is ignored.
void detachMonitor(EventContext& context, SessionId session);

// The session's servers are given nothing more; what it reports still counts.
void takeLeave(EventContext& context, SessionId session);

// Lengthens the lease of a monitor's current session, and says which of the tasks it asks for may not start.
// Nothing is kept of it: the server timeout, which begins no sooner than when the session ends, is longer
// than a lease.
void renewLease(EventContext& context, const LeaseAsked& event);

// Applies the reports of a monitor's current session; refuses those of another, so that the monitor keeps and
// repeats them. A report for an allocation that is not in use on one of its servers changes nothing; a task
// that has started under one is to be stopped.
void takeReports(EventContext& context, const ReportsArrived& event);

// Takes the pressures that a monitor measured on the servers that its current session stands for.
void takePressure(EventContext& context, const PressureReported& event);

// Loses the tasks of servers that were away for longer than the server timeout.
void loseOverdue(EventContext& context);

}  // namespace tarcil::master
