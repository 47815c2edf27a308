// What the master publishes, on its way to all agents. Each reads it at its own pace: it need not look before
// it has to decide something, since news of servers alone make no agent act.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <variant>

#include "agent/logic/events.h"
#include "sim/event_queue.h"

namespace tarcil::sim {

class FeedLog {
 public:
  using News = std::variant<ServerUpdate, agent::QueueTold>;

  // Requires: arrivals do not fall.
  void add(SimTime arrives, News news) { entries_.push_back({arrives, std::move(news)}); }

  // The entry of this number, counted from 0, where it has arrived by then; else null. Valid until the next
  // add().
  const News* arrived(size_t number, SimTime by) const {
    const size_t index = number - begin_;
    return index < entries_.size() && entries_[index].arrives <= by ? &entries_[index].news : nullptr;
  }

  size_t size() const { return entries_.size(); }
  // Every reader has read what is before this number.
  void forgetBefore(size_t number) {
    for (; begin_ < number; ++begin_) entries_.pop_front();
  }

 private:
  struct Entry {
    SimTime arrives;
    News news;
  };

  std::deque<Entry> entries_;
  size_t begin_ = 0;  // number of the first
};

}  // namespace tarcil::sim
