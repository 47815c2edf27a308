// Members on the wire and on disk.
#pragma once

#include "identity/logic/member.h"
#include "schema/members.capnp.h"

namespace tarcil {

wire::MemberRole toWire(MemberRole role);
// Throws a kj::Exception for one that is none, as those below do.
MemberRole fromWire(wire::MemberRole role);
void write(const MemberRecord& value, wire::Member::Builder to);
MemberRecord read(wire::Member::Reader from);
void write(const MasterKeys& value, wire::MasterKeys::Builder to);
MasterKeys read(wire::MasterKeys::Reader from);

}  // namespace tarcil
