// Draws free slots of the servers that a job may use (free ones, uniformly, without replacement).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/state/server_set.h"

namespace tarcil {

// A server with f free units has floor(f / rusPerTask) slots and is drawn once for each. A draw costs the
// same however many servers there are. Once most slots are drawn and draws begin to miss, the remaining ones
// are listed, so that all of them are found in the end; that costs as much as the draws before. Reuses its
// memory between samples.
class SlotSampler {
 public:
  // A drawn slot. Servers are numbered densely from 0 in the order in which this sample met them.
  struct Slot {
    ServerId server;
    uint32_t number;
  };

  // Starts a sample. Set, records and generator must outlive it and must not change. The records of drawn
  // servers are prefetched for the caller that judges them.
  void start(const ServerSet& servers, std::span<const Vacancy> records, uint32_t rusPerTask, Rng& rng);

  // Appends the next `count` slots; fewer only where every one has been drawn.
  void draw(size_t count, std::vector<Slot>& slots);

  // Removes a slot of this server from those that draw() draws from and returns it; nullopt if it has none
  // left. Requires: draw() was not called in this sample.
  std::optional<Slot> take(ServerId server);

  // Draws no slot of this server. Requires: draw() was not called in this sample.
  void leaveOut(ServerId server) { entryOf(server).drawn = servers_->free().unitsOf(server) / rus_; }

  // The number of this server, which counts as met from now on.
  uint32_t number(ServerId server) { return entryOf(server).number; }

  // How much a sample draws from: servers with slots, and their slots. Estimates, at most a quarter too high.
  uint32_t servers() const { return draw_.servers(); }
  uint64_t slots() const { return draw_.units() / rus_; }

  // Servers met so far, whether slots of them were drawn or not: above every number.
  uint32_t met() const { return met_; }

 private:
  // An entry of an open hash table; of another sample where `sample` is not the current one.
  struct Entry {
    ServerId server = 0;
    uint32_t sample = 0;
    uint32_t number = 0;
    uint32_t drawn = 0;  // slots
  };

  Entry& entryOf(ServerId server);
  void grow();
  size_t placeOf(ServerId server) const;
  // As draw() for at most kAhead slots, before the end is near; they may come out fewer.
  void drawSome(size_t count, std::vector<Slot>& slots);
  void listWhatIsLeft();
  void drawListed(size_t count, std::vector<Slot>& slots);

  static constexpr size_t kAhead = FreeIndex::Draws::kMany;

  const ServerSet* servers_ = nullptr;
  const Vacancy* records_ = nullptr;
  FreeIndex::Draws draw_;
  Rng* rng_ = nullptr;
  uint32_t rus_ = 1;
  std::vector<Entry> table_;  // a power of two, at least twice met()
  uint32_t sample_ = 0;
  uint32_t met_ = 0;
  std::array<FreeIndex::Drawn, kAhead> ahead_;
  uint64_t draws_ = 0, misses_ = 0;
  bool listed_ = false;
  std::vector<ServerId> left_;  // once listed: one entry per slot
};

}  // namespace tarcil
