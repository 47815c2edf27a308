// An agent's copy of the shared state: absolute server states, with the agent's own claims in flight laid
// over them.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/text_arena.h"
#include "core/model/profile.h"
#include "core/state/claim.h"
#include "core/state/neighbours.h"
#include "core/state/server.h"
#include "core/state/server_set.h"
#include "core/state/vacancy.h"

namespace tarcil {

// What a task of one job does to a server of one platform.
struct OwnTask {
  Pressure caused{};
  PressureSum bound{};  // boundOf() it there
  uint32_t rus = 1;
};

// Single-threaded; holds no clock and does no I/O. What decisions read is kept apart, 40 bytes a server; with
// the rest, a server of ten units takes some 360 bytes where its name and address are its own
// (docs/benchmarks.md).
class ClusterState {
 public:
  // One laid-over claim.
  using OverlayId = uint64_t;

  ClusterState() = default;
  ClusterState(ClusterState&&) = default;
  ClusterState& operator=(ClusterState&&) = default;

  // --- Changes

  // Takes a server's absolute state if its version is above the one held. Facts, where present, are always
  // taken. An update of an unknown server is ignored unless it brings facts: a snapshot with them is on its
  // way. O(1) without facts.
  void apply(const ServerUpdate& update);

  // O(servers).
  void setShare(const std::string& platform, const Share& share);
  // By which model contention is formed from now on; kSum at first. O(servers).
  void setContention(ContentionModel model);
  // Whether neighbours() are kept ready; not at first. O(residents^2) of each server.
  void keepNeighbours(bool isOn);

  // Lays a claim of `rus`, the lowest free `extras` and what is requested of memory and disk by a task with
  // this profile over the server until lift(). Later apply()s of the server keep it laid over. Requires:
  // known(server).
  OverlayId layOver(ServerId server, const std::vector<RuIndex>& rus, const Profile& profile,
                    const Extras& extras = {}, const ByteRequest& request = {});
  // Does nothing for an overlay that is not there. O(overlays on its server).
  void lift(OverlayId overlay);

  // --- One server. Requires: known(server), where not said otherwise.

  // One above the highest number known.
  size_t size() const { return servers_.size(); }
  // Whether this number is known. Numbers below size() may be unknown for a moment while a snapshot arrives.
  bool known(ServerId server) const { return server < servers_.size() && !servers_[server].name.empty(); }
  std::optional<ServerId> find(std::string_view name) const;

  ServerFacts facts(ServerId server) const;
  // These hold as long as the state.
  std::string_view name(ServerId server) const { return servers_[server].name; }
  std::string_view address(ServerId server) const { return servers_[server].address; }
  const Vacancy& vacancy(ServerId server) const { return vacancies_[server]; }
  // By server number; those that are not known are not usable and have no units.
  std::span<const Vacancy> vacancies() const { return vacancies_; }
  // Whom a newcomer meets there. Requires: keepNeighbours(true).
  const Neighbours& neighbours(ServerId server) const { return neighbours_[server]; }
  // Begins to bring those from memory that feel one of a newcomer's tasks, of all these servers at once: a
  // decision mostly waits for that. `newcomers` by platform.
  void prefetchNeighbours(std::span<const ServerId> servers, std::span<const Newcomer> newcomers) const;
  uint32_t freeUnits(ServerId server) const { return vacancies_[server].free; }
  bool isUp(ServerId server) const { return details_[server].up; }
  bool isQuarantined(ServerId server) const { return details_[server].quarantined; }

  // The server as it will be once `count` of these tasks sit on it; of memory and disk, as it is.
  // O(kResources).
  Vacancy vacancyWith(ServerId server, const OwnTask& task, uint32_t count) const;

  // The state held, with every overlay applied; its version is that of the last apply().
  ServerStatus status(ServerId server) const;
  uint64_t version(ServerId server) const { return details_[server].version; }
  // Asks memory for what version() and lowestFree() will read.
  void callUp(ServerId server) const { __builtin_prefetch(&details_[server].version); }
  // Fills `units` with the server's lowest free units beyond the first `skipped` of them; returns how many
  // there were.
  size_t lowestFree(ServerId server, std::span<RuIndex> units, uint32_t skipped = 0) const;
  // What it has of countable things, taken or not.
  const Extras& extras(ServerId server) const { return *servers_[server].extras; }
  // Whether it is and has what is needed, whatever its tasks leave of it.
  bool meets(ServerId server, const ServerNeeds& needs) const;
  // Its value of an attribute that constraints may ask for; nullopt where it has none.
  std::optional<std::string_view> attribute(ServerId server, const std::string& name) const;
  // All of them but "platform", "rack" and "server".
  const std::map<std::string, std::string>& attributes(ServerId server) const {
    return *servers_[server].attributes;
  }
  // Whether enough of each kind is left for so many tasks that need these.
  bool hasExtras(ServerId server, const Extras& extras, uint32_t times = 1) const;
  // Of which of memory and disk too little is left for so many tasks with this request.
  ByteShortage byteShortage(ServerId server, const ByteRequest& request, uint32_t times = 1) const;
  const ByteSupply& byteSupply(ServerId server) const { return servers_[server].bytes->supply; }

  // --- Platforms and racks

  // Changes whenever a platform is added or its share is set; never 0.
  uint64_t look() const { return look_; }
  size_t platformCount() const { return platforms_.size(); }
  const std::string& platformName(PlatformId platform) const { return platforms_[platform].name; }
  const Share& share(PlatformId platform) const { return platforms_[platform].share; }
  const Share& shareOf(const std::string& platform) const;  // fullShare() for an unlisted platform
  // How many servers of all() each platform has; only platforms that have one.
  std::map<std::string, uint32_t> platforms() const;
  const std::string& rackName(RackId rack) const { return *racks_[rack]; }
  const std::vector<ServerId>& serversIn(RackId rack) const { return rackServers_[rack]; }

  // --- Sets of servers

  // Free units on servers that are up and not cordoned.
  uint64_t freeUnits() const { return all_.free().units(); }

  // Those that are known, up or not, and not removed.
  const ServerSet& all() const { return all_; }
  // The servers that meet the needs. O(1) where they were asked for lately, else O(servers); the last
  // kKeptSets are kept up to date. The reference holds until so many others were asked for after it.
  const ServerSet& meeting(const ServerNeeds& needs) const;

  // The servers of all() in a constraint that lists servers or racks (listIn()).
  std::vector<ServerId> listedBy(const Constraint& list) const;

  static constexpr size_t kKeptSets = 16;

 private:
  // What decisions do not read. Sums are exact: at most 65,536 units of pressure 99.
  struct Details {
    std::array<int32_t, kResources> sum{};
    std::array<int16_t, kResources> bound{};  // INT16_MAX: no resident
    Pressure background{};
    bool up = false;
    bool cordoned = false;
    bool quarantined = false;
    bool removed = false;
    uint64_t version = 0;
    uint64_t free = 0;  // of the first 64 units
    ByteResources allocated{};
  };
  // What most servers share is kept once.
  struct Bytes {
    uint64_t memory = 0;
    uint32_t memoryOvercommit = 0;
    ByteSupply supply;

    auto operator<=>(const Bytes&) const = default;
  };
  struct Facts {
    std::string_view name;
    std::string_view address;
    const std::map<std::string, std::string>* attributes = nullptr;
    const Extras* extras = nullptr;
    const std::vector<std::string>* missing = nullptr;
    const Bytes* bytes = nullptr;
    uint32_t cores = 0;
    bool emulated = false;
  };
  struct Overlay {
    ServerId server = 0;
    std::vector<RuIndex> rus;
    Pressure caused{};
    Pressure tolerated{};
    Extras extras;
    ByteRequest request;
  };
  struct Overlaid {
    ServerStatus base;  // what apply() brought
    std::vector<OverlayId> overlays;
  };
  struct Platform {
    std::string name;
    Share share = fullShare();
    uint32_t servers = 0;
  };
  struct KeptSet {
    ServerNeeds needs;
    ServerSet servers;
  };

  // Makes room for servers below this number; sparing, since there are many.
  void grow(size_t size);
  void takeFacts(ServerId id, const ServerFacts& facts);
  // Into and out of the sets of servers, where it is not in or out.
  void join(ServerId id);
  void part(ServerId id);
  PlatformId platformNamed(const std::string& name);
  RackId rackNamed(const std::string& name);
  // Makes this the state held.
  void hold(ServerId id, const ServerStatus& status);
  // Forms the state held anew from base and overlays.
  void refresh(ServerId id, const Overlaid& overlaid);
  // After a change of what vacancies are formed from.
  void reform(ServerId id);
  void setVacancy(ServerId id, const Vacancy& vacancy);
  void lay(ServerStatus& status, const Overlay& overlay) const;
  void joinIfMeets(ServerId id, KeptSet& kept) const;
  // The free units that tasks with these needs may have.
  uint32_t drawable(ServerId id, const ServerNeeds& needs) const;

  std::vector<Vacancy> vacancies_;
  std::vector<Details> details_;
  std::vector<Facts> servers_;
  std::vector<std::vector<ResidentGroup>> residents_;
  std::vector<Neighbours> neighbours_;  // formed from them, where they are kept
  bool keepsNeighbours_ = false;
  std::unordered_map<ServerId, std::vector<uint64_t>> moreFree_;  // units from 64 on, where there are any
  std::unordered_map<ServerId, FreeExtras> freeExtras_;           // where there are any

  TextArena texts_;
  std::unordered_map<std::string_view, ServerId> byName_;
  std::set<std::map<std::string, std::string>> attributes_;
  std::set<Extras> extras_;
  std::set<std::vector<std::string>> missing_;
  std::set<Bytes> bytes_;
  std::vector<Platform> platforms_;
  uint64_t look_ = 1;
  std::map<std::string, PlatformId> platformNumbers_;
  std::vector<const std::string*> racks_;
  std::vector<std::vector<ServerId>> rackServers_;
  std::map<std::string, RackId> rackNumbers_;
  ContentionModel contention_ = ContentionModel::kSum;

  std::unordered_map<OverlayId, Overlay> overlays_;
  std::unordered_map<ServerId, Overlaid> overlaid_;
  OverlayId nextOverlay_ = 1;

  ServerSet all_;
  mutable std::list<KeptSet> kept_;  // the last asked for first
};

}  // namespace tarcil
