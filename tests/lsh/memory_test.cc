// What an index takes of memory, by counting what is asked of the heap. A program of its own, since
// it counts for all of it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "lsh/admission.h"

namespace {

size_t held = 0;   // bytes; this program has one thread
size_t taken = 0;  // how often

void* take(size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(block);
  ++taken;
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
  ++taken;
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

namespace tarcil::lsh_memory_test {

Vacancy aVacancy(ServerId id) {
  Vacancy vacancy;
  for (size_t i = 0; i < kResources; ++i) vacancy.contention[i] = static_cast<uint8_t>((id * (i + 7)) % 100);
  vacancy.slack.fill(Vacancy::kUnbounded);
  vacancy.platform = static_cast<PlatformId>(id % 4);
  vacancy.free = vacancy.rus = 10;
  vacancy.usable = true;
  return vacancy;
}

TEST(BucketIndex, TakesLittleMemory) {
  constexpr ServerId kServers = 100'000;
  const size_t before = held;
  {
    BucketIndex index(BucketOptions{});
    for (ServerId id = 0; id < kServers; ++id) index.update(id, aVacancy(id), {});
    // 32 bytes a server and room to grow; 256 buckets with 450 bytes and 360 intervals of 4 bytes.
    EXPECT_LE(held - before, 5u << 20);
  }
  EXPECT_EQ(held, before);
}

TEST(BucketIndex, AsksForNoMoreMemoryOnceItIsFilled) {
  BucketIndex index(BucketOptions{});
  MonotonicTime now{};
  for (ServerId id = 0; id < 1'000; ++id) index.update(id, aVacancy(id), now);
  const std::array<Newcomer, 4> newcomers{};
  Matching matching;
  const auto ask = [&] { admit(index, {.newcomers = newcomers}, {.slots = 1'000'000}, {}, matching); };
  for (int i = 0; i < 400; ++i) index.advance(now += std::chrono::seconds(20));
  ask();
  const size_t before = taken;
  for (int hour = 0; hour < 10; ++hour) {
    for (ServerId id = 0; id < 1'000; ++id)
      index.update(id, aVacancy(id + 1), now += std::chrono::seconds(4));
    while (index.step(100)) continue;
    ask();
  }
  EXPECT_EQ(taken, before);
}

}  // namespace tarcil::lsh_memory_test
