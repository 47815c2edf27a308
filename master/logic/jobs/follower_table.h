// Unfinished jobs whose profiles follow what is known of their application (JobSpec::profileLookedUp), and
// when they are judged anew.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/state/job_state.h"
#include "master/logic/jobs/by_age.h"

namespace tarcil::master {

struct ApplicationOfUser {
  std::string application, user;

  auto operator<=>(const ApplicationOfUser&) const = default;
};

struct Followers {
  ByAge jobs;                             // never empty
  MonotonicTime notBefore{};              // the next round over them
  std::optional<MonotonicTime> due;       // when they are judged, or go on to be
  std::optional<ByAge::value_type> last;  // that was judged in the round that is under way
};

class FollowerTable {
 public:
  using Group = std::map<ApplicationOfUser, Followers>::value_type;

  // Both do nothing for a job whose profile does not follow. Requires: erased is one that was added.
  void add(const JobRecord& job);
  void erase(const JobRecord& job);

  // Null where there is no such job. Valid until the last of its jobs is erased.
  Group* find(const ApplicationOfUser& whose);
  // Those of every user, of the application in every version.
  std::vector<Group*> ofApplication(const std::string& application);

  void setDue(Group& group, std::optional<MonotonicTime> when);
  // Null where none is due.
  Group* dueBy(MonotonicTime now);
  std::optional<MonotonicTime> nextDue() const;

 private:
  std::map<ApplicationOfUser, Followers> groups_;
  std::set<std::pair<MonotonicTime, ApplicationOfUser>> due_;
};

}  // namespace tarcil::master
