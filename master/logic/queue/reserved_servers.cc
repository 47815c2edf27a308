#include "master/logic/queue/reserved_servers.h"

#include <algorithm>
#include <compare>

namespace tarcil::master {
namespace {

// What nobody knows comes last.
WallTime orEnd(WallTime when) {
  return when == kNever ? WallTime::max() : when;
}

struct Slot {
  WallTime when;
  uint32_t missing;  // units that are to come free first
  ServerId server;

  auto operator<=>(const Slot&) const = default;
};

void addSlots(Prospect& prospect, uint32_t rusPerTask, std::vector<Slot>& slots) {
  std::ranges::sort(prospect.ends, {}, [](const UnitsEnd& end) { return orEnd(end.when); });
  uint32_t units = prospect.free, given = 0;
  const auto giveAt = [&](WallTime when) {
    for (; units >= (given + 1) * rusPerTask; ++given) {
      const uint32_t needed = (given + 1) * rusPerTask;
      slots.push_back({when, needed - std::min(needed, prospect.free), prospect.server});
    }
  };
  // Slots that are there are as good as any that end in the past.
  giveAt(WallTime::min());
  for (const UnitsEnd& end : prospect.ends) {
    units += end.units;
    giveAt(orEnd(end.when));
  }
}

}  // namespace

ReservedServers chooseReserved(std::span<Prospect> prospects, uint32_t rusPerTask, uint64_t wanted,
                               uint64_t atMost) {
  std::vector<Slot> slots;
  for (Prospect& prospect : prospects) addSlots(prospect, rusPerTask, slots);
  std::ranges::sort(slots);
  ReservedServers chosen;
  if (wanted > 0 && slots.size() >= wanted) {
    const WallTime last = slots[wanted - 1].when;
    chosen.start = last == WallTime::max() ? kNever : last;
  }
  if (slots.size() > atMost) slots.resize(atMost);
  for (const Slot& slot : slots) chosen.servers.push_back(slot.server);
  std::ranges::sort(chosen.servers);
  chosen.servers.erase(std::unique(chosen.servers.begin(), chosen.servers.end()), chosen.servers.end());
  return chosen;
}

}  // namespace tarcil::master
