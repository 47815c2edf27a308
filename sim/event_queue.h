// What is still to happen in a simulation, in the order of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace tarcil::sim {

// Virtual time since the simulation began.
using SimTime = Duration;

// A heap of four children a node: half as deep as one of two, and a node's children lie on two lines of
// cache. Events of one time come out in the order in which they went in, so a run does not depend on the
// heap. Not thread-safe. `Event` is a small plain value.
template <typename Event>
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

  void push(SimTime when, const Event& event) {
    Entry entry{when, next_++, event};
    size_t at = heap_.size();
    heap_.push_back(entry);
    while (at > 0) {
      const size_t parent = (at - 1) / kChildren;
      if (!entry.before(heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = entry;
  }

  // Of the next event. Requires: not empty().
  SimTime nextTime() const { return heap_.front().when; }

  // Takes the next event out. Requires: not empty().
  Event pop() {
    const Event event = heap_.front().event;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return event;
  }

 private:
  static constexpr size_t kChildren = 4;

  struct Entry {
    SimTime when;
    uint64_t number;
    Event event;

    bool before(const Entry& other) const {
      return when != other.when ? when < other.when : number < other.number;
    }
  };

  // Puts the entry where the first one was taken away.
  void sink(const Entry& entry) {
    size_t at = 0;
    for (;;) {
      const size_t first = at * kChildren + 1;
      if (first >= heap_.size()) break;
      size_t least = first;
      const size_t end = first + kChildren < heap_.size() ? first + kChildren : heap_.size();
      for (size_t child = first + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(entry)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  uint64_t next_ = 0;
};

}  // namespace tarcil::sim
