// What a checker finds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tarcil::torture {

// Position of an event in the history, from 1.
using EventNumber = uint64_t;
inline constexpr EventNumber kNoEvent = std::numeric_limits<EventNumber>::max();

class Problems final {
 public:
  // Says of the events from here on which one is looked at; 0: the store.
  void at(EventNumber event) { event_ = event; }
  EventNumber now() const { return event_; }

  void add(std::string what) {
    list_.push_back((event_ == 0 ? "store: " : "event " + std::to_string(event_) + ": ") + std::move(what));
  }

  const std::vector<std::string>& list() const { return list_; }

 private:
  EventNumber event_ = 0;
  std::vector<std::string> list_;
};

}  // namespace tarcil::torture
