// The servers that take late-bound tasks, as the master tells of them, and the groups of them that jobs with
// constraints are sampled from.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/resources.h"
#include "core/state/server.h"
#include "core/state/server_set.h"
#include "latebinding/server_groups.h"

namespace tarcil {

struct LateServer {
  ServerId id = 0;
  std::string name, address;
  std::map<std::string, std::string> attributes;  // as constraints see them
  ByteResources unitShare{};  // of memory and disk, what a late-bound task has; 0: as much as it likes
  bool isCordoned = false;
  // What its tasks feel: the sum of what committed tasks cause, and the background.
  PressureSum sum{};
  Pressure background{};
};

// Keeps what the master told; whether a server may be probed is in `groups`. Single-threaded, no I/O.
class LateServers {
 public:
  explicit LateServers(late::ServerGroups& groups) : groups_(groups) {}

  // What an update changed of a server.
  struct Change {
    bool address = false;  // it came, has gone (find() has none then), or is elsewhere
    bool cordon = false;
    bool surroundings = false;
  };
  Change apply(const ServerUpdate& update);

  const LateServer* find(ServerId server) const;
  const LateServer* find(const std::string& name) const;
  const std::map<ServerId, LateServer>& all() const { return servers_; }

  // A server may be probed from now on. Groups whose constraints it meets have it.
  void setUp(ServerId server);

  // The group of those that meet the constraints and whose units come with the bytes that are needed, made
  // when first asked for; each call is to be followed by a drop().
  late::GroupNumber group(const ServerNeeds& needs);
  void drop(late::GroupNumber group);
  // Ascending, up or not. O(servers) where no constraint lists servers or racks (listIn()).
  std::vector<ServerId> meeting(const ServerNeeds& needs) const;

 private:
  struct Group {
    late::GroupNumber number = late::kAllServers;
    ServerNeeds needs;
    uint32_t users = 0;  // jobs
  };

  void unlist(const LateServer& server);
  std::vector<ServerId> listedBy(const Constraint& list) const;

  late::ServerGroups& groups_;
  std::map<ServerId, LateServer> servers_;
  std::map<std::string, ServerId> byName_;
  std::map<std::string, std::set<ServerId>> byRack_;
  std::vector<Group> inUse_;
};

}  // namespace tarcil
