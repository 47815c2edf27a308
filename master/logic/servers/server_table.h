// Every server that ever registered, its tasks and their pressure, and the monitor session that stands
// for it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/state/occupancy.h"
#include "core/state/server.h"
#include "core/state/server_pressure.h"
#include "master/logic/deadlines.h"
#include "master/logic/events.h"
#include "master/store/store.h"

namespace tarcil::master {

struct Server {
  ServerRecord record;
  ServerStatus status;
  std::vector<Resident> residents;
  Share share = fullShare();           // of its platform
  std::optional<SessionId> session;    // of its monitor, while the server is up
  uint64_t publishedVersion = 0;       // what agents were told last
  bool factsChanged = false;           // since then
  std::vector<AbsentPressure> absent;  // not included in its background; not stored
  PressureSum poolCaused{};            // by its late-bound tasks, part of the status's sum; not stored
  uint64_t refusedClaims = 0;          // since the master's start

  // Whether it starts tasks (quarantine.h).
  struct Trust {
    uint32_t neverStarted = 0;  // launches in a row that failed by its own fault
    MonotonicTime firstFailure{};
    uint32_t timesAside = 0;       // in a row
    WallTime asideUntil = kNever;  // end of its quarantine
    std::string asideReason;
  } trust;

  std::string autoCordonReason;         // why it is auto-cordoned; empty: it is not
  MonotonicTime autoCordonNotBefore{};  // not auto-cordoned again until then
  uint32_t countedFree = 0;             // of ServerTable::freeUnits()
};

// Keeps statuses consistent with the residents, and notes which servers changed. A server that is removed
// keeps its number and its place; references hold until add().
class ServerTable {
 public:
  // Every server is down until `deadline` at the earliest, without residents. Versions start at
  // `firstVersion`. Requires: ids of `records` are dense from 0, in any order.
  ServerTable(std::vector<ServerRecord> records, const std::vector<PlatformRecord>& platforms,
              uint64_t firstVersion, MonotonicTime deadline);

  size_t size() const { return servers_.size(); }
  Server& at(ServerId id) { return servers_[id]; }
  const Server& at(ServerId id) const { return servers_[id]; }
  Server* find(const std::string& name);
  const Server* find(const std::string& name) const;

  // A server that registers for the first time; down, free.
  Server& add(const ServerFacts& facts, const std::string& monitor);
  // Takes the facts that the monitor reports now. Units and extras that are gone stay with their tasks until
  // those end.
  void setFacts(Server& server, const ServerFacts& facts);

  // The units that late-bound tasks run on: they are not free, and no resident has any of them.
  void setPool(Server& server, late::PoolLease pool);
  void setPoolCaused(Server& server, const PressureSum& caused);

  // Requires: the resident's units and extras are free.
  void occupy(Server& server, Resident resident);
  void vacate(Server& server, AllocationId allocation);
  // Requires: the resident is there, and units that it has not had are free.
  void resize(Server& server, AllocationId allocation, std::vector<RuIndex> rus);
  // At the start: adds residents without their effects; then the effects of all of them.
  void restore(Server& server, Resident resident) { server.residents.push_back(std::move(resident)); }
  void rebuildAll();
  // Undoes every occupy() since this copy of the status was made, when there were that many residents.
  void rollBack(Server& server, const ServerStatus& status, size_t residents);

  // No longer part of the cluster, until setUp(). Requires: it is down, without residents.
  void remove(Server& server);

  // One that was removed is part of the cluster again.
  void setUp(Server& server, SessionId session);
  void setDown(Server& server, MonotonicTime deadline);
  // It is given nothing more, and its session stands.
  void setLeaving(Server& server);

  void setBackground(Server& server, const Pressure& background);
  // Requires: the resident is there.
  void charge(Server& server, AllocationId allocation, const Pressure& caused, ResourceSet measured);
  // It tolerates what the profile says, and is charged for it where it is not measured. Requires: the
  // resident is there.
  void setProfile(Server& server, AllocationId allocation, const Profile& profile);

  // Judges every server of the platform by the new share. O(servers).
  void setShare(const std::string& platform, const Share& share);
  const std::map<std::string, Share>& shares() const { return shares_; }

  // Of the servers that take new tasks. O(1).
  uint64_t freeUnits() const { return freeUnits_; }

  // Exhausted where with these there would be more than kMaxPlatforms. O(names).
  Status takesPlatforms(const std::set<std::string>& names) const;

  // Servers by platform; those that are removed are of none.
  const std::map<std::string, uint32_t>& platforms() const { return platforms_; }

  // Notes the servers that the session stands for. Requires: neither session nor monitor is open.
  void openSession(SessionId session, const std::string& monitor, std::vector<ServerId> servers);
  // The monitor that the session speaks for, and more servers of it. Requires: the session is open.
  const std::string& monitorOf(SessionId session) const { return sessions_.at(session).monitor; }
  void addToSession(SessionId session, const std::vector<ServerId>& servers);
  // Forgets a session; the servers it stood for, empty where it is unknown.
  std::vector<ServerId> closeSession(SessionId session);
  // Those it stands for.
  std::vector<ServerId> serversOf(SessionId session) const;
  // As closeSession() for the session of this monitor, if it has one.
  std::vector<ServerId> closeSessionOf(const std::string& monitor);
  bool attached(SessionId session) const { return sessions_.contains(session); }
  // Monitors that are attached.
  size_t monitors() const { return sessions_.size(); }

  // The status is cordoned where the record, a quarantine or an auto-cordon asks for that. To be called when
  // any of them has changed.
  void refreshCordon(Server& server);

  // When the tasks of servers that are down are declared lost, and these are removed; when those of servers
  // being drained are ended, and quarantines and auto-cordons end.
  Deadlines& losses() { return losses_; }
  Deadlines& removals() { return removals_; }
  Deadlines& drains() { return drains_; }
  Deadlines& quarantines() { return quarantines_; }
  const Deadlines& quarantines() const { return quarantines_; }
  Deadlines& autoCordons() { return autoCordons_; }
  const Deadlines& autoCordons() const { return autoCordons_; }
  // The earliest of them all.
  std::optional<MonotonicTime> nextDeadline() const;

  // Whether new capacity for waiting tasks may have appeared since the last call: a server takes tasks again,
  // a task has gone, or servers are judged or equipped differently.
  bool takeBetter() { return std::exchange(better_, false); }

  // Updates for agents: each server that has changed since it was in the last ones, once, in the order of the
  // first change. Not more than kUpdatesAtOnce of them: where there are more (hasUpdates()), the next call
  // goes on. What is told late is only seen late: a commit is judged by the table.
  static constexpr size_t kUpdatesAtOnce = 1000;
  std::vector<ServerUpdate> takeUpdates();
  bool hasUpdates() const { return !changed_.empty(); }

 private:
  struct Session {
    std::string monitor;
    std::vector<ServerId> servers;
  };

  Share shareOf(const std::string& platform) const;
  // One server changes from one platform to another; empty: none.
  void changePlatform(const std::string& from, const std::string& to);
  // Computes its status from scratch.
  void reform(Server& server);
  void rebuild(Server& server);
  void noteChange(Server& server);
  void noteBetter(Server& server);
  void countFree(Server& server);
  static Resident& residentOf(Server& server, AllocationId allocation);
  // Takes the place of the resident with its allocation.
  void replace(Server& server, Resident resident, bool isBetter);

  const uint64_t firstVersion_;
  std::vector<Server> servers_;
  std::unordered_map<std::string, ServerId> byName_;
  std::map<std::string, Share> shares_;
  std::map<std::string, uint32_t> platforms_;  // none is 0
  std::set<std::string> platformsSeen_;        // since the start, and those whose share was set
  std::unordered_map<SessionId, Session> sessions_;
  std::unordered_map<std::string, SessionId> sessionOf_;  // by monitor
  Deadlines losses_, removals_, drains_, quarantines_, autoCordons_;
  std::vector<ServerId> changed_;  // with repeats
  uint64_t freeUnits_ = 0;
  bool better_ = false;
};

}  // namespace tarcil::master
