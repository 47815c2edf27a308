// What the master publishes, on its way to all agents. Each reads it at its own pace: it need not look before
// it has something else to do, since news of servers alone make no agent act.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "agent/logic/events.h"
#include "sim/event_queue.h"

namespace tarcil::sim {

class FeedLog {
 public:
  struct Entry {
    SimTime arrives;
    agent::Event event;
  };

  // Requires: arrivals do not fall.
  void add(SimTime arrives, agent::Event event) { entries_.push_back({arrives, std::move(event)}); }
  // News of a server; with others that arrive at the same time it is one event.
  void add(SimTime arrives, agent::ServersUpdated news) {
    if (!entries_.empty() && entries_.back().arrives == arrives) {
      if (auto* last = std::get_if<agent::ServersUpdated>(&entries_.back().event)) {
        last->updates.push_back(std::move(news.updates.front()));
        return;
      }
    }
    entries_.push_back({arrives, std::move(news)});
  }

  // The entry of this number, counted from 0, where it has arrived by then; else null. Valid until the next
  // add().
  const Entry* arrived(size_t number, SimTime by) const {
    const size_t index = number - begin_;
    return index < entries_.size() && entries_[index].arrives <= by ? &entries_[index] : nullptr;
  }

  size_t size() const { return entries_.size(); }
  // Every reader has read what is before this number.
  void forgetBefore(size_t number) {
    for (; begin_ < number; ++begin_) entries_.pop_front();
  }

 private:
  std::deque<Entry> entries_;
  size_t begin_ = 0;  // number of the first
};

}  // namespace tarcil::sim
