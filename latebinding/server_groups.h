// Which servers may be probed, and uniform samples of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/state/server.h"

namespace tarcil::late {

// A set of servers that is sampled from. Group 0 is all that are up; others are what satisfies some
// job's constraints.
using GroupNumber = uint32_t;
inline constexpr GroupNumber kAllServers = 0;

// Every group is kept as a list in an order of chance, and a sample of n is its first n after n swaps (Fisher
// and Yates, cut short): uniform, distinct, O(n), whatever the size of the group, and without asking for
// memory. Single-threaded.
class ServerGroups {
 public:
  ServerGroups() : groups_(1) {}

  bool isUp(ServerId server) const { return server < up_.size() && up_[server]; }
  void setUp(ServerId server);
  // It leaves all groups; when it comes back it is in group 0 only. O(servers of each).
  void setDown(ServerId server);

  // A new group of these servers, as far as they are up. Numbers of groups that were dropped are used again.
  GroupNumber make(std::span<const ServerId> servers);
  // The group consists of these from now on. Requires: not group 0.
  void set(GroupNumber group, std::span<const ServerId> servers);
  void drop(GroupNumber group);

  size_t size(GroupNumber group) const { return groups_[group].size(); }

  // `count` distinct servers of the group, or all where it has fewer, in an order of chance. Valid until the
  // next change or sample of the group.
  std::span<const ServerId> sample(GroupNumber group, size_t count, Rng& rng);

 private:
  std::vector<std::vector<ServerId>> groups_;
  std::vector<GroupNumber> dropped_;
  std::vector<bool> up_;
};

}  // namespace tarcil::late
