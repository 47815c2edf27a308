// Secrets to and from the wire (secrets.capnp).
#pragma once

#include <capnp/blob.h>

#include "core/model/task_secret.h"
#include "schema/secrets.capnp.h"
#include "secrets/logic/secret.h"

namespace tarcil {

void write(const SecretGrant& value, wire::SecretGrant::Builder to);
SecretGrant read(wire::SecretGrant::Reader from);

void write(const SecretRecord& value, wire::Secret::Builder to);
// One whose value is not told has an empty one.
SecretRecord read(wire::Secret::Reader from);

void write(const TaskSecret& value, wire::TaskSecret::Builder to);
TaskSecret read(wire::TaskSecret::Reader from);

// The value in a message that has been read is not wanted any more: zeros in its place.
void overwrite(capnp::Data::Reader value);

}  // namespace tarcil
