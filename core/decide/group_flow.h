// Who goes where, when groups of tasks compete for servers: as many tasks as possible, by maximum flow.
#pragma once

#include <cstdint>
#include <vector>

#include "core/decide/spread_count.h"
#include "core/state/server.h"

namespace tarcil {

// Groups of one job's tasks, each with the servers that it may go to. Slots of a server are taken one after
// the other; how many of them will do may differ between groups. The state that `placed` counts in outlives
// it.
class GroupFlow {
 public:
  // Pairs of a group and a server that are looked at.
  static constexpr size_t kMaxPairs = 10'000;

  // So many tasks on one server.
  struct Share {
    uint32_t group = 0;  // in the order of addGroup()
    ServerId server = 0;
    uint32_t tasks = 0;  // at least one
  };

  // `placed` counts the job's tasks that have their slots; `tasks` are those of all groups.
  GroupFlow(const SpreadCount& placed, uint32_t tasks) : placed_(placed), tasks_(tasks), room_(placed) {}

  void addGroup(uint32_t tasks);

  // The last group may take the first `slots` slots of the server, to which it was not added before. False
  // once it needs no further server: whatever the other groups take, enough is left for it. Requires: a
  // group.
  bool addServer(ServerId server, uint32_t slots);

  // Whether servers were left out because of kMaxPairs: then fewer tasks than possible may be placed.
  bool isCut() const { return isCut_; }

  // Shares that place as many tasks as possible, none beyond what placement.spread allows, by group. On a
  // server, groups that may take fewer of its slots have to come first. At kMaxPairs some 20 ms.
  std::vector<Share> largest() const;

 private:
  struct Pair {
    uint32_t group;
    ServerId server;
    uint32_t slots;
  };

  SpreadCount placed_;
  uint32_t tasks_;
  std::vector<uint32_t> groups_;  // tasks of each
  std::vector<Pair> pairs_;
  // Of the last group: what spread leaves beside the slots that it may take, and how many these are.
  SpreadCount room_;
  uint32_t reached_ = 0;
  bool isCut_ = false;
};

}  // namespace tarcil
