// Users, accounts and tokens to and from the wire (people.capnp).
#pragma once

#include "identity/logic/person.h"
#include "schema/people.capnp.h"

namespace tarcil {

wire::Role toWire(Role role);
Role fromWire(wire::Role role);

void write(const UserRecord& value, wire::User::Builder to);
UserRecord read(wire::User::Reader from);

void write(const AccountRecord& value, wire::Account::Builder to);
AccountRecord read(wire::Account::Reader from);

void write(const TokenRecord& value, wire::UserToken::Builder to);
// One whose digest is not told has zeros there.
TokenRecord read(wire::UserToken::Reader from);

}  // namespace tarcil
