// Bytes that are nearly those of a valid message.
#pragma once

#include "core/base/rng.h"
#include "tests/hostile/decoding.h"

namespace tarcil::hostile {

// A few changes in a row, each of one of these kinds: a bit, a byte or a word is another, a word is one that
// stands elsewhere, some words are gone or come twice, the end is cut off.
Bytes mutated(Bytes bytes, Rng& rng);

}  // namespace tarcil::hostile
