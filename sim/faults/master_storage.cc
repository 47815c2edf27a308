#include "sim/faults/master_storage.h"

#include <utility>

namespace tarcil::sim {
namespace {

constexpr uint64_t kStallOneIn = 100;
constexpr int kStall = 30;

}  // namespace

void MasterStorage::persist(Mutation mutation) {
  commit_.add(std::move(mutation));
  if (!commit_.isWriting() && !isToBegin_) writeLater();
}

void MasterStorage::afterSync(master::Action output) {
  const auto free = commit_.hold(std::move(output));
  if (!free) return;
  if (mayTell()) return owner_.release(*free);
  commit_.fail();
  after(Duration::zero(), [this] { owner_.writeFailed(); });
}

void MasterStorage::crash() {
  const bool isWriting = commit_.isWriting();
  const auto batch = commit_.end();
  processDied(isWriting ? &batch.mutations : nullptr);
  commit_ = {};
  isToBegin_ = false;
  ++life_;
}

// What comes at the same time is written together.
void MasterStorage::writeLater() {
  isToBegin_ = true;
  after(Duration::zero(), [this] {
    isToBegin_ = false;
    if (!commit_.hasFailed()) write();
  });
}

void MasterStorage::write() {
  begin(commit_.begin().mutations);
}

void MasterStorage::written() {
  if (!mayTell()) return failed();
  const auto batch = commit_.end();
  // On its way before the outputs of the former leave, as OutputGate has it.
  if (commit_.hasGathered()) write();
  for (const master::Action& output : batch.outputs) owner_.release(output);
}

void MasterStorage::failed() {
  commit_.end();
  commit_.fail();
  owner_.writeFailed();
}

Duration MasterStorage::slowness() {
  return world_.upTo(slowness_) * (world_.oneIn(kStallOneIn) ? kStall : 1);
}

void MasterStorage::after(Duration duration, std::function<void()> what) {
  world_.after(duration, [this, life = life_, what = std::move(what)] {
    if (life == life_) what();
  });
}

}  // namespace tarcil::sim
