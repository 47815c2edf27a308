// The disk under a master on virtual time. It may fail, and it may be full.
#pragma once

#include <cstdint>
#include <vector>

#include "master/store/memory_store.h"
#include "sim/faults/master_storage.h"

namespace tarcil::sim {

class MasterDisk final : public MasterStorage {
 public:
  // More than any reserve.
  static constexpr uint64_t kPlenty = UINT64_MAX;

  // `store` is what is on it.
  MasterDisk(VirtualWorld& world, Owner& owner, MemoryStore& store)
      : MasterStorage(world, owner), store_(store) {}

  // --- Faults

  // Nobody knows before the next start what becomes of a batch whose sync fails: chance decides.
  void failNextSync() { failsNext_ = true; }
  // At 0 every sync fails, and no process can start.
  void setFreeBytes(uint64_t free) { free_ = free; }
  uint64_t freeBytes() const { return free_; }

 private:
  void begin(const std::vector<Mutation>& batch) override;
  // A batch is one write of the store's log: it is there whole or not at all, as chance decides.
  void processDied(const std::vector<Mutation>* batch) override;
  void keep(const std::vector<Mutation>& batch);

  MemoryStore& store_;
  bool failsNext_ = false;
  uint64_t free_ = kPlenty;
};

}  // namespace tarcil::sim
