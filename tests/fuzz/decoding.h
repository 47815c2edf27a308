// Decodes bytes as messages, as a role does with what a peer sends: everything that schema/ turns into a
// value. The parameters of calls, which ports take apart themselves, are in targets/calls.cc.
#pragma once

#include <capnp/schema.h>

#include <string_view>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

// How many kinds of message there are.
size_t kinds();

// What messages of the kind are.
std::string_view nameOf(size_t kind);
capnp::StructSchema schemaOf(size_t kind);

// Reads `size` bytes as one message of this kind. What has been read comes out the same when it is written
// and read again, or Broken is thrown; otherwise nothing is thrown but what no decoder should. Returns how
// many bytes it took when it was written again; 0 where it was refused.
size_t decode(size_t kind, const uint8_t* bytes, size_t size);

// A valid message of each kind, in their order: each field that is a list, a text or a choice has something
// in it.
std::vector<Bytes> examples();

// That of one schema. Requires: it is of a kind.
Bytes exampleOf(capnp::StructSchema schema);

}  // namespace tarcil::fuzz
