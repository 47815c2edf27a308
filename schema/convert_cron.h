// Crons on the wire and on disk.
#pragma once

#include "core/state/cron.h"
#include "schema/crons.capnp.h"

namespace tarcil {

void write(const CronSpec& value, wire::CronSpec::Builder to);
// Throws a kj::Exception for one that is none, as those below do.
CronSpec read(wire::CronSpec::Reader from);
void write(const Cron& value, wire::Cron::Builder to);
Cron read(wire::Cron::Reader from);

}  // namespace tarcil
