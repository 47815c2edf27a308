// Demand of the jobs that come before a job in the queue.
#pragma once

#include <array>
#include <cstdint>

#include "core/state/server.h"
#include "lsh/bucket.h"

namespace tarcil::master {

// What a waiting job could use.
struct Wanted {
  uint32_t slots = 0;
  uint32_t rus = 1;  // units of each, of one server
  bool isGang = false;

  uint64_t units() const { return uint64_t{slots} * rus; }
};

// Sums up jobs in the order of the queue.
class DemandAhead {
 public:
  void add(const Wanted& wanted) {
    ++jobs_;
    units_ += wanted.units();
    if (!wanted.isGang) slots_[slotSize(wanted.rus)] += wanted.slots;
  }

  uint32_t jobs() const { return jobs_; }
  uint64_t units() const { return units_; }

  // Slots that they are likely to get before this job does. A gang gets its own when all others are
  // served. Other jobs take slots as they come: gangs do not delay them, larger tasks do
  // (reservation.h). That smaller tasks take units before they make up a slot shows in the rate at which
  // slots come (lsh/admission.h).
  uint64_t slotsBefore(const Wanted& wanted) const {
    if (wanted.isGang) return units_ / wanted.rus;
    const size_t own = slotSize(wanted.rus);
    uint64_t slots = 0;
    for (size_t size = own; size < slots_.size(); ++size) slots += slots_[size] << (size - own);
    return slots;
  }

 private:
  uint32_t jobs_ = 0;
  uint64_t units_ = 0;
  std::array<uint64_t, slotSize(kMaxServerRus) + 1> slots_{};  // by size
};

}  // namespace tarcil::master
