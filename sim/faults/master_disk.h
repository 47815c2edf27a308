// The disk under a master on virtual time, behind the group commit that the master's own shell has: one batch
// is synced at a time, which takes a while, and what waits meanwhile is synced together. It may fail, and it
// may be full.
#pragma once

#include <cstdint>
#include <vector>

#include "master/logic/events.h"
#include "master/store/group_commit.h"
#include "master/store/memory_store.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

class MasterDisk {
 public:
  // The process that writes.
  struct Owner {
    // The batch is on the disk from now on, whether the process hears of it or not.
    virtual void stored(const std::vector<Mutation>& batch) = 0;
    // All that the action rests on is synced.
    virtual void release(const master::Action& action) = 0;
    // The sync has failed, and so would any later one: the process is to stop, and crash() to follow.
    virtual void writeFailed() = 0;

   protected:
    ~Owner() = default;
  };

  // More than any reserve.
  static constexpr uint64_t kPlenty = UINT64_MAX;

  // Both outlive it, and it outlives the run.
  MasterDisk(VirtualWorld& world, Owner& owner) : world_(world), owner_(owner) {}

  // In the order of the calls; the outputs of one event after all that it persists.
  void persist(Mutation mutation);
  void afterSync(master::Action output);
  // Records to be synced and outputs that wait for that.
  size_t waiting() const { return commit_.waiting(); }
  // The process is gone. The batch that was being synced is one write of the store's log: it is there whole
  // or not at all, as chance decides. What waited for the next is lost.
  void crash();

  // --- Faults

  // Nobody knows before the next start what becomes of a batch whose sync fails: chance decides.
  void failNextSync() { failsNext_ = true; }
  // A sync takes so much longer at most; one in a hundred up to thirty times as much, as where a disk stalls.
  void beSlow(Duration by) { slowness_ = by; }
  // At 0 every sync fails, and no process can start.
  void setFreeBytes(uint64_t free) { free_ = free; }
  uint64_t freeBytes() const { return free_; }

  // --- What is on it

  MemoryStore& store() { return store_; }

 private:
  void syncLater();
  void sync();
  void synced();
  void keep(const std::vector<Mutation>& batch);

  VirtualWorld& world_;
  Owner& owner_;
  MemoryStore store_;
  GroupCommit<master::Action> commit_;
  bool isToBegin_ = false;  // the next batch, when the process has nothing else to do
  uint64_t life_ = 0;       // of the process
  bool failsNext_ = false;
  Duration slowness_{};
  uint64_t free_ = kPlenty;
};

}  // namespace tarcil::sim
