// Which step is taken next for a task that falls short of what its job expects (Tarcil section 5.1): first
// its server takes no new tasks (auto_cordon.h), and neighbours that may be are throttled (throttling.h); a
// task that uses up its own cores or memory gets more units there, if its job allows it and no waiting job
// could use them (resizing.h); at last it is moved to a server that is enough better, or has the units that
// it needs, if its job allows it (relocation.h).
//
// One step at a time for a task, with a pause between two. When its monitor reports that the violation is
// over, and it stays so for a while, extra units are taken back; the while doubles when the violation comes
// back. Steps are listed with the job and not stored: a restart of the master forgets them and the reports,
// which monitors repeat.
#pragma once

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// Takes the next step that the violation asks for and the job allows, if there is one left and its time has
// come. Requires: there is a violation.
void takeNextStep(ViolationCase& violation);

// The task performs as expected: what was done stays until it has done so for a while.
void endViolation(ViolationCase& violation);

// Takes the steps, and undoes the steps, whose time has come, and ends auto-cordons.
void takeDueSteps(EventContext& context);

// To be called before the attempt's units are freed: accounts for extra units and forgets the violation.
void forgetViolation(EventContext& context, const Hold& hold);

// The monitor of this server attaches: it repeats its reports, and hears of tasks with extra units.
void resumeSteps(EventContext& context, const Server& server);

}  // namespace tarcil::master
