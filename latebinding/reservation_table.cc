#include "latebinding/reservation_table.h"

namespace tarcil::late {
namespace {

constexpr size_t kFirstSlots = 8;

uint64_t hashOf(AgentNumber agent, JobNumber job, ProbeIndex probe) {
  uint64_t h = job + (static_cast<uint64_t>(agent) << 40) + (static_cast<uint64_t>(probe) << 20);
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15;
  return h ^ (h >> 29);
}

}  // namespace

size_t ReservationTable::slotFor(AgentNumber agent, JobNumber job, ProbeIndex probe) const {
  return hashOf(agent, job, probe) & (slots_.size() - 1);
}

size_t ReservationTable::slotOf(Row row) const {
  const Reservation& held = rows_[row];
  size_t slot = slotFor(held.agent, held.job, held.probe);
  while (slots_[slot] != row) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::optional<Row> ReservationTable::find(AgentNumber agent, JobNumber job, ProbeIndex probe) const {
  if (size_ == 0) return std::nullopt;
  for (size_t slot = slotFor(agent, job, probe); slots_[slot] != kNoRow;
       slot = (slot + 1) & (slots_.size() - 1)) {
    const Reservation& held = rows_[slots_[slot]];
    if (held.job == job && held.agent == agent && held.probe == probe) return slots_[slot];
  }
  return std::nullopt;
}

void ReservationTable::grow() {
  slots_.assign(slots_.empty() ? kFirstSlots : 2 * slots_.size(), kNoRow);
  for (Row row = 0; row < rows_.size(); ++row) {
    const Reservation& held = rows_[row];
    if (held.left == 0) continue;
    size_t slot = slotFor(held.agent, held.job, held.probe);
    while (slots_[slot] != kNoRow) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = row;
  }
}

Row ReservationTable::append(const Reservation& reservation, Chain& chain) {
  if (2 * (size_ + 1u) > slots_.size()) grow();
  Row row = free_;
  if (row == kNoRow) {
    row = static_cast<Row>(rows_.size());
    rows_.emplace_back();
  } else {
    free_ = rows_[row].next;
  }
  rows_[row] = reservation;
  rows_[row].next = kNoRow;
  rows_[row].previous = chain.tail;
  (chain.tail == kNoRow ? chain.head : rows_[chain.tail].next) = row;
  chain.tail = row;
  size_t slot = slotFor(reservation.agent, reservation.job, reservation.probe);
  while (slots_[slot] != kNoRow) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = row;
  ++size_;
  return row;
}

void ReservationTable::erase(Row row, Chain& chain) {
  eraseSlot(slotOf(row));
  Reservation& gone = rows_[row];
  (gone.previous == kNoRow ? chain.head : rows_[gone.previous].next) = gone.next;
  (gone.next == kNoRow ? chain.tail : rows_[gone.next].previous) = gone.previous;
  gone.left = 0;
  gone.next = free_;
  free_ = row;
  --size_;
}

// What follows without a gap moves up where its search passes the hole, so that no search ends early.
void ReservationTable::eraseSlot(size_t slot) {
  const size_t mask = slots_.size() - 1;
  size_t hole = slot;
  for (size_t next = (hole + 1) & mask; slots_[next] != kNoRow; next = (next + 1) & mask) {
    const Reservation& held = rows_[slots_[next]];
    const size_t wanted = slotFor(held.agent, held.job, held.probe);
    if (((next - wanted) & mask) >= ((next - hole) & mask)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole] = kNoRow;
}

}  // namespace tarcil::late
