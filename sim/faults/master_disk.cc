#include "sim/faults/master_disk.h"

#include <utility>

namespace tarcil::sim {
namespace {

constexpr uint64_t kStallOneIn = 100;
constexpr int kStall = 30;

}  // namespace

void MasterDisk::persist(Mutation mutation) {
  commit_.add(std::move(mutation));
  if (!commit_.isWriting() && !isToBegin_) syncLater();
}

void MasterDisk::afterSync(master::Action output) {
  if (const auto free = commit_.hold(std::move(output))) owner_.release(*free);
}

void MasterDisk::crash() {
  if (commit_.isWriting() && world_.oneIn(2)) keep(commit_.end().mutations);
  commit_ = {};
  isToBegin_ = failsNext_ = false;
  ++life_;
}

// What comes at the same time is synced together.
void MasterDisk::syncLater() {
  isToBegin_ = true;
  world_.after(Duration::zero(), [this, life = life_] {
    if (life != life_) return;
    isToBegin_ = false;
    sync();
  });
}

void MasterDisk::sync() {
  commit_.begin();
  const Duration longer = world_.upTo(slowness_) * (world_.oneIn(kStallOneIn) ? kStall : 1);
  world_.after(world_.delay() + longer, [this, life = life_] {
    if (life == life_) synced();
  });
}

void MasterDisk::synced() {
  const auto batch = commit_.end();
  const bool fails = failsNext_ || free_ == 0;
  if (!fails || world_.oneIn(2)) keep(batch.mutations);
  if (fails) {
    commit_.fail();
    return owner_.writeFailed();
  }
  // On its way before the outputs of the former leave, as OutputGate has it.
  if (commit_.hasGathered()) sync();
  for (const master::Action& output : batch.outputs) owner_.release(output);
}

void MasterDisk::keep(const std::vector<Mutation>& batch) {
  if (!store_.write(batch)) world_.violated("the disk failed");
  owner_.stored(batch);
}

}  // namespace tarcil::sim
