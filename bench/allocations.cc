#include "bench/allocations.h"

#include <cstdlib>
#include <new>

namespace tarcil::bench {
namespace {

Allocations soFar;

}  // namespace

Allocations allocations() {
  return soFar;
}

}  // namespace tarcil::bench

void* operator new(size_t size) {
  ++tarcil::bench::soFar.count;
  tarcil::bench::soFar.bytes += size;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
