#include "sim/faults/faulty_store.h"

#include <gtest/gtest.h>

#include "master/store/memory_store.h"

namespace tarcil::store_faulty_store_test {

using sim::FaultyStore;

const std::vector<Mutation> kFirst = {Put{AgentRecord{"x", 1}}};
const std::vector<Mutation> kSecond = {Put{AgentRecord{"x", 2}}};

TEST(FaultyStore, FailsTheChosenWriteAndEverythingAfterIt) {
  MemoryStore inner;
  FaultyStore store(inner, 2, FaultyStore::Unsynced::kForgotten);
  EXPECT_TRUE(store.write(kFirst).ok());
  EXPECT_FALSE(store.write(kSecond).ok());
  EXPECT_FALSE(store.write(kSecond).ok());
  EXPECT_FALSE(store.load().ok());
  EXPECT_EQ(inner.load()->agents.at(0).epoch, 1u);
}

TEST(FaultyStore, MayKeepAWriteThatItFailed) {
  MemoryStore inner;
  FaultyStore store(inner, 2, FaultyStore::Unsynced::kKept);
  EXPECT_TRUE(store.write(kFirst).ok());
  EXPECT_FALSE(store.write(kSecond).ok());
  EXPECT_EQ(inner.load()->agents.at(0).epoch, 2u);
}

TEST(FaultyStore, FailsTheNextWriteWhenAsked) {
  MemoryStore inner;
  FaultyStore store(inner, 0, FaultyStore::Unsynced::kKept);
  EXPECT_TRUE(store.write(kFirst).ok());
  store.failNext(FaultyStore::Unsynced::kForgotten);
  EXPECT_FALSE(store.failed());
  EXPECT_FALSE(store.write(kSecond).ok());
  EXPECT_EQ(inner.load()->agents.at(0).epoch, 1u);
}

TEST(FaultyStore, NeverFailsUnasked) {
  MemoryStore inner;
  FaultyStore store(inner, 0, FaultyStore::Unsynced::kKept);
  EXPECT_TRUE(store.write(kFirst).ok());
  EXPECT_FALSE(store.failed());
}

}  // namespace tarcil::store_faulty_store_test
