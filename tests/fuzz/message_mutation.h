// Cap'n Proto messages that are well formed and say something else.
#pragma once

#include <capnp/dynamic.h>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

// A few fields of the struct, or of what is in it, are changed: numbers and enumerations are at the ends of
// their ranges or one off, texts and data are longer or shorter, lists have elements more, less or twice,
// structs are gone, or are there where they were not, unions have another member. Fields that hold
// capabilities and any pointers stay.
void mutate(capnp::DynamicStruct::Builder message, Rng& rng);

// The same of a message in its serialized form. Throws a kj::Exception where it is none of this schema.
Bytes mutatedMessage(const Bytes& message, capnp::StructSchema schema, Rng& rng);

// The words of a message; what does not fill one at the end is left out.
kj::Array<capnp::word> wordsOf(const uint8_t* bytes, size_t size);
Bytes inputOf(kj::ArrayPtr<const capnp::word> words);

}  // namespace tarcil::fuzz
