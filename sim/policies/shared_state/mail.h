// What master, agents and monitors of a simulated cluster send one another: each message takes one way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "agent/logic/events.h"
#include "master/logic/events.h"
#include "sim/world.h"

namespace tarcil::sim {

// Values that wait for their turn under a number. Places are used again.
template <typename Value>
class Slots {
 public:
  uint32_t put(Value value) {
    if (unused_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<uint32_t>(values_.size() - 1);
    }
    const uint32_t number = unused_.back();
    unused_.pop_back();
    values_[number] = std::move(value);
    return number;
  }

  // Each number once.
  Value take(uint32_t number) {
    unused_.push_back(number);
    return std::move(values_[number]);
  }

 private:
  std::vector<Value> values_;
  std::vector<uint32_t> unused_;
};

// Kinds of the World's messages that the roles send themselves and one another.
enum class Mail : uint8_t {
  kToMaster,     // a: number of the event
  kToAgent,      // a: agent, b: number of the event
  kLaunch,       // a: task, b: server, c: agent
  kReleased,     // a: number of the master's outputs
  kQueueNews,    // the agents hear of the master's queue
  kMasterAlarm,  // b: setting
  kAgentAlarm,   // a: agent, b: setting
  kAgentIsFree,  // a: agent
};

// A peer's requests carry its session, so that answers find back. Requires: session < 2^32.
inline RequestId requestOf(SessionId session, uint64_t count) {
  return count << 32 | session;
}
inline SessionId sessionOf(RequestId request) {
  return request & UINT32_MAX;
}

// The clock and the network. Messages of one delay arrive in the order in which they were sent.
class Network {
 public:
  // `world` outlives it.
  Network(World& world, Duration oneWay) : world_(world), oneWay_(oneWay) {}

  SimTime now() const { return world_.now(); }
  // As the roles' logic is told it: the clocks of all machines are the same.
  Now clock() const {
    return {steady(world_.now()), WallTime(std::chrono::seconds(1'700'000'000)) + world_.now()};
  }
  static MonotonicTime steady(SimTime time) { return MonotonicTime(std::chrono::hours(1)) + time; }
  static SimTime simTime(MonotonicTime time) { return time - steady({}); }

  Duration oneWay() const { return oneWay_; }

  void send(Duration delay, Mail kind, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
    world_.send(delay, {.kind = static_cast<uint8_t>(kind), .a = a, .b = b, .c = c});
  }
  // Leaves after so long.
  void toMaster(Duration after, master::Event event) {
    send(after + oneWay_, Mail::kToMaster, toMaster_.put(std::move(event)));
  }
  void toAgent(uint32_t agent, agent::Event event) {
    send(oneWay_, Mail::kToAgent, agent, toAgent_.put(std::move(event)));
  }
  master::Event takeForMaster(uint32_t number) { return toMaster_.take(number); }
  agent::Event takeForAgent(uint32_t number) { return toAgent_.take(number); }

 private:
  World& world_;
  const Duration oneWay_;
  Slots<master::Event> toMaster_;
  Slots<agent::Event> toAgent_;
};

// Carries out WakeAt: setting it again replaces what was set before.
class Alarm {
 public:
  // Rings by a message of this kind to itself.
  Alarm(Network& network, Mail kind, uint32_t owner) : network_(network), kind_(kind), owner_(owner) {}

  void set(MonotonicTime when) {
    due_ = std::max(Network::simTime(when), network_.now());
    isSet_ = true;
    if (!isArmed_ || due_ < armedFor_) arm();
  }

  // The message has come: whether the time is there. One that comes too early is sent again.
  bool rings(uint32_t setting) {
    if (setting != setting_) return false;
    isArmed_ = false;
    if (!isSet_) return false;
    if (due_ > network_.now()) {
      arm();
      return false;
    }
    isSet_ = false;
    return true;
  }

 private:
  void arm() {
    isArmed_ = true;
    armedFor_ = due_;
    network_.send(due_ - network_.now(), kind_, owner_, ++setting_);
  }

  Network& network_;
  const Mail kind_;
  const uint32_t owner_;
  SimTime due_{}, armedFor_{};
  bool isSet_ = false, isArmed_ = false;
  uint32_t setting_ = 0;
};

}  // namespace tarcil::sim
