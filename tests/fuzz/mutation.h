// Bytes that are nearly those of a valid input.
#pragma once

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

// A few changes in a row, each of one of these kinds: a bit, a byte or a word is another, a word is one that
// stands elsewhere, some words are gone or come twice, the end is cut off.
Bytes mutated(Bytes bytes, Rng& rng);

}  // namespace tarcil::fuzz
