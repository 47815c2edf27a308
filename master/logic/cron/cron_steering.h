// What users do to their crons: add, hold, release, run, remove.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Success also where it is there already, by its id. Invalid where it cannot be taken, Denied where the
// caller may not run jobs as the user that it names, Exhausted where there are too many.
Status addCron(EventContext& context, const CronAdded& event);

// NotFound where there is none that the caller may steer. For CronChange::kRun, Conflict where it is held,
// its last job has not ended or was made a moment ago, or as makeJobByHand().
Status steerCron(EventContext& context, const CronSteered& event);

}  // namespace tarcil::master
