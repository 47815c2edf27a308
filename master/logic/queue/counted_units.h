// For how many units users' tasks count beside those of others: for what they hold, or what they keep from
// others, whichever is more. Single-threaded.
#pragma once

#include <boost/container/flat_set.hpp>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"
#include "core/state/server.h"
#include "master/logic/queue/waiting_order.h"

namespace tarcil::master {

// Units of a server with so many that a task keeps from others who may not break it, its own included,
// rounded. They may press on a resource no more than it tolerates: the rest is its share of the server, and
// its largest share counts, as in dominant resource fairness (Ghodsi et al., NSDI 2011, section 4.1).
uint32_t unitsKept(const Pressure& tolerated, const Share& share, uint32_t rus);

// A user's tasks on one server. What several keep from others is the same room.
class UnitsOnServer {
 public:
  // A task that holds so many, and keeps so many.
  void add(uint64_t held, uint32_t kept);
  // Requires: it was added.
  void remove(uint64_t held, uint32_t kept);

  uint64_t counted() const;
  bool empty() const { return tasks_ == 0; }

 private:
  uint64_t held_ = 0;
  uint32_t tasks_ = 0;
  boost::container::flat_multiset<uint32_t> kept_;  // none is 0
};

// By user and server.
class CountedUnits {
 public:
  // A task of the user on the server holds so many units, and keeps so many. How many more count for the
  // user.
  int64_t add(UserNumber user, ServerId server, uint64_t held, uint32_t kept);
  // The reverse. Requires: it was added. At most 0.
  int64_t remove(UserNumber user, ServerId server, uint64_t held, uint32_t kept);

  // Empty where the user has none there.
  UnitsOnServer on(UserNumber user, ServerId server) const;
  // That count for the user beyond those that the user's tasks hold.
  uint64_t headroomOf(UserNumber user) const;

 private:
  void addHeadroom(UserNumber user, int64_t units);
  static uint64_t keyOf(UserNumber user, ServerId server) { return uint64_t{user} << 32 | server; }

  std::unordered_map<uint64_t, UnitsOnServer> onServers_;  // none is empty
  std::unordered_map<UserNumber, int64_t> headroom_;       // none is 0
};

// How many more units would count for a user, claim by claim of one commit. Valid while `counted` does not
// change.
class UnitsAhead {
 public:
  UnitsAhead(const CountedUnits& counted, UserNumber user) : counted_(counted), user_(user) {}

  // A task on the server beside those that were added before.
  uint64_t add(ServerId server, uint64_t held, uint32_t kept);

 private:
  const CountedUnits& counted_;
  const UserNumber user_;
  std::map<ServerId, UnitsOnServer> servers_;
};

}  // namespace tarcil::master
