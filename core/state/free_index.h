// Draws servers with a probability proportional to their free units, whatever the number of servers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/state/server.h"

namespace tarcil {

// Servers are kept in classes of nearly equal numbers of free units. A draw picks a class by the most that it
// may hold, a server of it uniformly, and accepts it by what the server really has: at least four draws in
// five are accepted, and all of them up to 32 free units. About 10 bytes per server; a change that leaves a
// server in its class touches one number, and any other moves two entries.
class FreeIndex {
 public:
  // One free unit: `unit` counts the free units of the server from 0.
  struct Drawn {
    ServerId server;
    uint32_t unit;
  };

  // Changes the number of units that may be drawn from this server; 0 takes it out. O(1).
  // Requires: units <= 65'535.
  void set(ServerId server, uint32_t units);

  // Units that may be drawn from this server, and from all of them.
  uint32_t unitsOf(ServerId server) const { return server < places_.size() ? places_[server].units : 0; }
  uint64_t units() const { return units_; }

  // Draws from the servers with at least `least` units; valid until the index changes. O(classes).
  class Draws;
  void prepare(Draws& draws, uint32_t least = 1) const;

  // Servers with some units, but fewer than `least`. O(1) up to 33, else O(servers of a like number).
  uint32_t serversBelow(uint32_t least) const;

  // Calls visit(server) for every server with units, in no particular order.
  template <typename Visit>
  void forEach(const Visit& visit) const {
    for (const std::vector<ServerId>& members : classes_) {
      for (ServerId server : members) visit(server);
    }
  }

 private:
  struct Position {
    uint32_t position = 0;  // in its class
    uint16_t units = 0;
  };

  // One class for each number up to this; from there four for each doubling.
  static constexpr uint32_t kExact = 32;
  static constexpr size_t kClasses = 77;  // enough for 65,536 units

  friend class Draws;

  static size_t classOf(uint32_t units);
  // The most units that a server of this class has.
  static uint32_t mostIn(size_t index);

  void enter(ServerId server, size_t index);
  void leave(ServerId server, size_t index);

  std::array<std::vector<ServerId>, kClasses> classes_;
  std::array<uint64_t, kClasses> weights_{};  // members * mostIn
  size_t end_ = 0;                            // above the highest class that ever had members
  std::vector<Position> places_;              // by server
  uint64_t units_ = 0;
};

// Not copied, since it is large.
class FreeIndex::Draws {
 public:
  Draws() = default;
  explicit Draws(const FreeIndex& index, uint32_t least = 1) { index.prepare(*this, least); }
  Draws(Draws&&) = default;
  Draws& operator=(Draws&&) = default;

  // Whether there is nothing to draw.
  bool empty() const { return total_ == 0; }

  // The servers that are drawn from, and their units; some of a class that `least` falls into have fewer.
  uint32_t servers() const { return servers_; }
  uint64_t units() const { return total_; }

  // A unit drawn uniformly from the units of the servers. O(1) expected. Requires: not empty().
  Drawn next(Rng& rng) const;
  // The same for each of `out`, quicker: memory is asked for all of them before it is waited for.
  // Requires: at most kMany.
  void next(Rng& rng, std::span<Drawn> out) const;

  static constexpr size_t kMany = 64;

 private:
  friend class FreeIndex;

  struct Class {
    const ServerId* members;
    uint32_t most;  // units of a member
    bool exact;     // every member has `most` units
  };
  // A unit below the most of a class; the server may have fewer.
  struct Pick {
    const ServerId* server;
    uint32_t unit;
    bool exact;
  };

  Pick pick(Rng& rng) const;
  bool stands(const Pick& pick) const;

  const std::vector<Position>* places_ = nullptr;
  uint32_t least_ = 1;
  uint64_t total_ = 0;
  uint32_t servers_ = 0;
  size_t count_ = 0;                      // of classes with members
  std::array<uint64_t, kClasses> below_;  // weights of this class and those before it
  std::array<Class, kClasses> classes_;
};

}  // namespace tarcil
