// For libFuzzer: the first byte chooses the kind of message, the rest is decoded as one. scripts/fuzz.sh
// runs it.
#include "tests/hostile/decoding.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) tarcil::hostile::decode(data[0] % tarcil::hostile::kinds(), data + 1, size - 1);
  return 0;
}
