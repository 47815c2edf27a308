// What a cluster's state takes of memory, by counting what is asked of the heap. A program of its own, since
// it counts for all of it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "core/state/cluster_state.h"
#include "tests/support/builders.h"

namespace {

size_t held = 0;  // bytes; this program has one thread

void* take(size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(block);
  return block;
}

void giveBack(void* block) {
  held -= malloc_usable_size(block);
  std::free(block);
}

void* takeAligned(size_t size, std::align_val_t alignment) {
  void* block =
      std::aligned_alloc(static_cast<size_t>(alignment),
                         (size + static_cast<size_t>(alignment) - 1) & ~(static_cast<size_t>(alignment) - 1));
  if (block == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(block);
  return block;
}

}  // namespace

void* operator new(size_t size) {
  return take(size);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return takeAligned(size, alignment);
}
void operator delete(void* block) noexcept {
  giveBack(block);
}
void operator delete(void* block, size_t) noexcept {
  giveBack(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  giveBack(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  giveBack(block);
}

namespace tarcil::state_memory_test {

TEST(ClusterState, TakesLittleMemory) {
  constexpr ServerId kServers = 20'000;
  const size_t before = held;
  {
    ClusterState state;
    for (ServerId id = 0; id < kServers; ++id) {
      auto server = aServer("server-" + std::to_string(id)).rus(10).rack("rack-" + std::to_string(id / 40));
      server.platform("platform-" + std::to_string(id % 4)).holding(causing({{Resource::kLlc, 20}}), 3);
      ServerUpdate update = server.update(id);
      update.facts->address = "10.0." + std::to_string(id / 250) + "." + std::to_string(id % 250) + ":7000";
      state.apply(update);
    }
    // Some 360 bytes, of which 56 are for the one group of residents, and an eighth of room to grow.
    EXPECT_LE((held - before) / kServers, 410u);
  }
  EXPECT_EQ(held, before);
}

}  // namespace tarcil::state_memory_test
