// The units of one server that late-bound tasks run on: the master's side of the lease.
#pragma once

#include <cstdint>
#include <optional>

#include "core/state/ru_set.h"
#include "latebinding/pool_messages.h"

namespace tarcil::late {

// What the master knows of one pool. A plain value, to be stored with the server before the answer leaves.
// Units in `held` belong to no allocation.
struct PoolLease {
  RuSet held{};
  uint64_t incarnation = 0;
  PoolAnswer answer{};  // to the last report

  bool operator==(const PoolLease&) const = default;
};

// Takes back the units that the report returns and grants those that it requests, as far as there are any in
// `free`: units of the server that no task holds, perhaps without some that the master reserves. A report
// that was handled already gets its first answer; an older one, or one of an earlier incarnation, none.
std::optional<PoolAnswer> handle(PoolLease& lease, const PoolReport& report, const RuSet& free);

}  // namespace tarcil::late
