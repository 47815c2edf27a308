#include "master/logic/queue/counted_units.h"

#include <algorithm>

#include "core/model/contention.h"

namespace tarcil::master {

uint32_t unitsKept(const Pressure& tolerated, const Share& share, uint32_t rus) {
  const Pressure demand = scaled(demandOf(tolerated), share);
  const uint64_t kept = *std::ranges::max_element(demand);
  return static_cast<uint32_t>((2 * rus * kept + kMaxPressure) / (2 * kMaxPressure));
}

void UnitsOnServer::add(uint64_t held, uint32_t kept) {
  ++tasks_;
  held_ += held;
  if (kept > 0) kept_.insert(kept);
}

void UnitsOnServer::remove(uint64_t held, uint32_t kept) {
  --tasks_;
  held_ -= held;
  if (kept > 0) kept_.erase(kept_.find(kept));
}

uint64_t UnitsOnServer::counted() const {
  return kept_.empty() ? held_ : std::max<uint64_t>(held_, *kept_.rbegin());
}

int64_t CountedUnits::add(UserNumber user, ServerId server, uint64_t held, uint32_t kept) {
  UnitsOnServer& units = onServers_[keyOf(user, server)];
  const uint64_t before = units.counted();
  units.add(held, kept);
  const auto more = static_cast<int64_t>(units.counted() - before);
  addHeadroom(user, more - static_cast<int64_t>(held));
  return more;
}

int64_t CountedUnits::remove(UserNumber user, ServerId server, uint64_t held, uint32_t kept) {
  const auto found = onServers_.find(keyOf(user, server));
  const uint64_t before = found->second.counted();
  found->second.remove(held, kept);
  const auto fewer = static_cast<int64_t>(before - found->second.counted());
  if (found->second.empty()) onServers_.erase(found);
  addHeadroom(user, static_cast<int64_t>(held) - fewer);
  return -fewer;
}

void CountedUnits::addHeadroom(UserNumber user, int64_t units) {
  if (units == 0) return;
  const auto entry = headroom_.try_emplace(user, 0).first;
  entry->second += units;
  if (entry->second == 0) headroom_.erase(entry);
}

UnitsOnServer CountedUnits::on(UserNumber user, ServerId server) const {
  const auto found = onServers_.find(keyOf(user, server));
  return found == onServers_.end() ? UnitsOnServer{} : found->second;
}

uint64_t CountedUnits::headroomOf(UserNumber user) const {
  const auto found = headroom_.find(user);
  return found == headroom_.end() ? 0 : static_cast<uint64_t>(found->second);
}

uint64_t UnitsAhead::add(ServerId server, uint64_t held, uint32_t kept) {
  UnitsOnServer& units = servers_.try_emplace(server, counted_.on(user_, server)).first->second;
  const uint64_t before = units.counted();
  units.add(held, kept);
  return units.counted() - before;
}

}  // namespace tarcil::master
