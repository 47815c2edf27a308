// The network of a task that does not use the host's.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// What a process in another network namespace needs to put something into the host's.
struct HostNetwork {
  int requests = -1;   // socket to the host's routing tables
  int nameSpace = -1;  // the host's
};

// Opens it for a plan with kOwnNetwork; else nothing is opened. False: `report` says why.
bool openHostNetwork(const Plan& plan, HostNetwork& host, Report& report);
void closeHostNetwork(HostNetwork& host);

// Sets up the network namespace of the calling process as the plan says: loopback, and with kOwnNetwork the
// interface eth0, whose other end on the host is named "tarcil" and a number. The pair has a net of four
// addresses in 100.64.0.0/10 to itself, chosen by the number of the host's interface: the host is the first,
// the task the second. The host's end is the task's way to everywhere; whether the host passes packets on is
// its operator's business. Each end sends no faster than the plan says. All of it goes with the namespace.
// False: `report` says why.
bool setUpNetwork(const Plan& plan, const HostNetwork& host, Report& report);

}  // namespace tarcil
