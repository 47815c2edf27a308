// Where a master on virtual time keeps its state, behind the group commit that the master's own shell has:
// one batch is written at a time, which takes a while, and what waits meanwhile is written together.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "master/logic/events.h"
#include "master/store/group_commit.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

class MasterStorage {
 public:
  // The process that writes.
  struct Owner {
    // The batch is kept from now on, whether the process hears of it or not.
    virtual void stored(const std::vector<Mutation>& batch) = 0;
    // All that the action rests on is written.
    virtual void release(const master::Action& action) = 0;
    // Nothing is written any more, nor told: the process is to stop, and crash() to follow.
    virtual void writeFailed() = 0;

   protected:
    ~Owner() = default;
  };

  // Both outlive it, and it outlives the run.
  MasterStorage(VirtualWorld& world, Owner& owner) : world_(world), owner_(owner) {}

  // In the order of the calls; the outputs of one event after all that it persists.
  void persist(Mutation mutation);
  void afterSync(master::Action output);
  // Records to be written and outputs that wait for that.
  size_t waiting() const { return commit_.waiting(); }
  // The process is gone. What waited for the next batch is lost.
  void crash();

  // A fault: a write takes so much longer at most; one in a hundred up to thirty times as much, as where a
  // disk stalls.
  void beSlow(Duration by) { slowness_ = by; }

 protected:
  ~MasterStorage() = default;

  // Writes the batch; written() or failed() follows, if the process lives.
  virtual void begin(const std::vector<Mutation>& batch) = 0;
  void written();
  // Whether the batch is kept the storage knows.
  void failed();
  // Whether what is written may be told.
  virtual bool mayTell() const { return true; }
  // The process is gone, and this batch was being written; null where none was.
  virtual void processDied(const std::vector<Mutation>* batch) = 0;

  bool isWriting() const { return commit_.isWriting(); }
  // Of the process: rises with each.
  uint64_t life() const { return life_; }
  // Of one write.
  Duration slowness();
  // What is done when the time has come, if the process still lives.
  void after(Duration duration, std::function<void()> what);

  VirtualWorld& world_;
  Owner& owner_;

 private:
  void writeLater();
  void write();

  GroupCommit<master::Action> commit_;
  bool isToBegin_ = false;  // the next batch, when the process has nothing else to do
  uint64_t life_ = 0;       // of the process
  Duration slowness_{};
};

}  // namespace tarcil::sim
