// What this process has asked the heap for.
#pragma once

#include <cstdint>

namespace tarcil::bench {

struct Allocations {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

// Since the start, by operator new. A program that links this has one that counts; of one thread.
Allocations allocations();

}  // namespace tarcil::bench
