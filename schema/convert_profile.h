// Stored profiles on the wire and on disk.
#pragma once

#include "core/state/observed_profile.h"
#include "core/state/stored_profile.h"
#include "schema/profiles.capnp.h"

namespace tarcil {

void write(const StoredProfile& value, wire::StoredProfile::Builder to);
// Throws a kj::Exception for a profile that is none.
StoredProfile read(wire::StoredProfile::Reader from);
void write(const Profiling& value, wire::Profiling::Builder to);
Profiling read(wire::Profiling::Reader from);
void write(const ObservedProfile& value, wire::ObservedProfile::Builder to);
// The same.
ObservedProfile read(wire::ObservedProfile::Reader from);

}  // namespace tarcil
