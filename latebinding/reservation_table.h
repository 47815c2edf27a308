// The reservations of one server: found by their probe, chained into queues.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "latebinding/messages.h"

namespace tarcil::late {

// Position in the table; kNoRow ends a chain.
using Row = uint32_t;
inline constexpr Row kNoRow = UINT32_MAX;

struct Reservation {
  AgentNumber agent = 0;
  ProbeIndex probe = 0;
  JobNumber job = 0;
  uint32_t left = 0;  // how often the agent is still to be asked
  TaskIndex task = kNoTask;
  uint32_t flow = 0;  // whose queue it is in
  Row next = kNoRow, previous = kNoRow;
  Bearing bearing{};
  MonotonicTime came{};
  MonotonicTime passedOver = MonotonicTime::max();  // since when; max() if never
};

// A chain of rows, first come first.
struct Chain {
  Row head = kNoRow, tail = kNoRow;
};

// Rows are reused, so a server that has seen its longest queue asks for no more memory; one that never had
// any holds none. All operations are O(1). Single-threaded.
class ReservationTable {
 public:
  Reservation& at(Row row) { return rows_[row]; }
  const Reservation& at(Row row) const { return rows_[row]; }

  std::optional<Row> find(AgentNumber agent, JobNumber job, ProbeIndex probe) const;

  // Adds it at the end of the chain. Requires: its probe is not in the table.
  Row append(const Reservation& reservation, Chain& chain);
  // Requires: the row is in the chain.
  void erase(Row row, Chain& chain);

  uint32_t size() const { return size_; }

 private:
  size_t slotFor(AgentNumber agent, JobNumber job, ProbeIndex probe) const;
  size_t slotOf(Row row) const;
  void grow();
  void eraseSlot(size_t slot);

  std::vector<Reservation> rows_;
  std::vector<Row>
      slots_;          // open addressing, linear probing; a power of two, at most half full; kNoRow: empty
  Row free_ = kNoRow;  // chained by `next`
  uint32_t size_ = 0;
};

}  // namespace tarcil::late
