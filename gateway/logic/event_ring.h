// The last events of a cluster, for streams that begin where they left off. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/state/caller.h"

namespace tarcil::gateway {

// As it is sent: a name, and JSON in one line.
struct Event {
  std::string name;
  std::string data;
  std::string owner{};  // whose job it tells of; empty: everybody may see it
};

// Where a reader is: behind the event with this number. Text: "INSTANCE-NUMBER", both in hexadecimal.
struct EventPosition {
  uint64_t instance = 0;
  uint64_t number = 0;

  std::string text() const;
  // Invalid, with what to write, where it is none.
  static Result<EventPosition> parse(std::string_view text);

  bool operator==(const EventPosition&) const = default;
};

struct EventBounds {
  size_t events = 20'000;
  size_t bytes = 64 << 20;  // of their data
};

// Single-threaded.
class EventRing final {
 public:
  // `instance` tells its numbers from those of other rings.
  explicit EventRing(uint64_t instance, EventBounds bounds = {}) : instance_(instance), bounds_(bounds) {}

  // The oldest go where there are too many.
  void add(Event event);
  // What comes next does not follow on what is there: readers are to ask for everything anew.
  void forget(std::string_view why);

  EventPosition end() const { return {instance_, last_}; }

  // In the form of server-sent events, those behind a position that the caller may see, some `atMost` bytes
  // of them; empty where there are none. Where some behind it are forgotten, it begins with a `reset`, and
  // goes on with what is there.
  struct Page {
    std::string text;
    EventPosition next;
    bool isReset = false;
  };
  Page behind(const EventPosition& position, const Caller& caller, size_t atMost) const;

  size_t size() const { return events_.size(); }

 private:
  const uint64_t instance_;
  const EventBounds bounds_;
  uint64_t last_ = 0;  // number of the last event
  std::deque<Event> events_;
  size_t bytes_ = 0;
  std::string whyForgotten_ = "the event that you name is no longer known";
  uint64_t forgottenUpTo_ = 0;
};

// One event as it is sent; its data has no line break.
std::string textOf(const EventPosition& id, std::string_view name, std::string_view data);

}  // namespace tarcil::gateway
