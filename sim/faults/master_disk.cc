#include "sim/faults/master_disk.h"

#include <utility>

namespace tarcil::sim {

void MasterDisk::begin(const std::vector<Mutation>& batch) {
  after(world_.delay() + slowness(), [this, &batch] {
    const bool fails = std::exchange(failsNext_, false) || free_ == 0;
    if (!fails || world_.oneIn(2)) keep(batch);
    fails ? failed() : written();
  });
}

void MasterDisk::processDied(const std::vector<Mutation>* batch) {
  if (batch != nullptr && world_.oneIn(2)) keep(*batch);
  failsNext_ = false;
}

void MasterDisk::keep(const std::vector<Mutation>& batch) {
  if (!store_.write(batch)) world_.violated("the disk failed");
  owner_.stored(batch);
}

}  // namespace tarcil::sim
