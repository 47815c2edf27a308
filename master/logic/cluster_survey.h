// What there is of contention, of pressure and of kept promises over the whole cluster, gathered in steps, so
// that nobody waits for it however many servers and tasks there are. What changes meanwhile is seen as it is
// when the survey comes by. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/resources.h"
#include "core/state/server.h"

namespace tarcil {

namespace master {
struct Server;
struct Tables;
}  // namespace master

struct SurveyLimits {
  size_t servers = 10'000;    // of which each is listed; where there are more, none is
  size_t applications = 100;  // that are named, those with the most tasks
  size_t candidates = 1'000;  // of these, the first that are met
};

// Applications that surveys have named since the master's start: so many at most, however they change over
// the days, since whoever stores metrics keeps each name.
class NamedApplications final {
 public:
  explicit NamedApplications(size_t most = 2'000) : most_(most) {}

  // Whether it may be named, which it is then.
  bool admit(const std::string& name) {
    return names_.contains(name) || (names_.size() < most_ && names_.insert(name).second);
  }

 private:
  size_t most_;
  std::set<std::string> names_;
};

class ClusterSurvey final {
 public:
  // `named` outlives it.
  explicit ClusterSurvey(NamedApplications& named, SurveyLimits limits = {})
      : limits_(limits), named_(&named) {}

  // Looks at so many more servers and tasks, and the last server's tasks besides; whether it has seen all of
  // them. O(atMost + units of a server). Requires: it has not.
  bool goOn(const master::Tables& tables, size_t atMost);

  // What follows holds once the survey has seen all. Servers that are removed, and their tasks, are in none.

  // By number.
  struct ListedServer {
    std::string name;
    uint8_t contention = 0;          // C of the most contended resource, as a new task would meet it
    std::optional<int32_t> slack{};  // the least of its resources (boundedSlack())
  };
  const std::vector<ListedServer>& servers() const { return servers_; }
  // Servers that are not listed, as there are too many.
  size_t unlisted() const { return unlisted_; }

  // One resource over all servers.
  struct OfResource {
    uint8_t contention = 0;          // the most
    std::optional<int32_t> slack{};  // the least
    uint64_t overloaded = 0;         // servers with residents that tolerate less than there is
  };
  const std::array<OfResource, kResources>& resources() const { return resources_; }

  // Tasks of one application.
  struct OfApplication {
    std::string name;  // empty: of none, and of all that have no place of their own
    uint64_t tasks = 0, degraded = 0;
    std::array<uint64_t, kResources> declared{};                   // sum over tasks of what profiles say
    std::array<uint64_t, kResources> measured{}, measuredTasks{};  // sum over tasks, and their number
  };
  // The most tasks first, the one without a name last; that one is always there.
  const std::vector<OfApplication>& applications() const { return applications_; }

  // Tasks that run, by whether they get what was promised. Measured: a violation lasts. Predicted: by the
  // interference that there is now, S is below the job's target.
  struct OfTasks {
    uint64_t atTarget = 0, predictedBelow = 0, measuredBelow = 0;
    double promised = 0;  // sum of S as of placement
    double now = 0;  // sum of S by the interference now, at most what is measured while a violation lasts

    uint64_t all() const { return atTarget + predictedBelow + measuredBelow; }
  };
  const OfTasks& tasks() const { return tasks_; }

  // Violations that last, and those that are over and of which what was done is not undone yet.
  uint64_t lasting() const { return lasting_; }
  uint64_t ended() const { return ended_; }

  // Units that jobs hold, and those of whole servers for each of them (core/model/sharing.h).
  uint64_t unitsUsed() const { return unitsUsed_; }
  uint64_t unitsAlone() const;

 private:
  void countServers(const master::Tables& tables, size_t atMost);
  // How many tasks it has.
  size_t lookAt(const master::Tables& tables, const master::Server& server);
  void lookAtTasks(const master::Tables& tables, const master::Server& server);
  OfApplication& entryOf(const std::string& application);
  void conclude();

  SurveyLimits limits_;
  NamedApplications* named_;
  ServerId next_ = 0;
  bool areCounted_ = false;
  std::vector<uint32_t> units_;  // of each server, while these are counted
  uint32_t usualUnits_ = 1;

  std::vector<ListedServer> servers_;
  size_t unlisted_ = 0;
  std::array<OfResource, kResources> resources_{};
  std::map<std::string, OfApplication> met_;
  std::vector<OfApplication> applications_;
  OfTasks tasks_;
  uint64_t lasting_ = 0, ended_ = 0;
  uint64_t unitsUsed_ = 0;
  double unitsAlone_ = 0;  // each task brings its part of its job's
};

}  // namespace tarcil
