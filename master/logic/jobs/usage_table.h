// How much of the cluster each user has used: counted as tasks and jobs end, stored with their end.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/state/job_state.h"
#include "core/state/usage.h"

namespace tarcil::master {

class UsageTable {
 public:
  explicit UsageTable(std::vector<Usage> stored);

  // An attempt of the user has ended that held these many units for this long.
  void addAttempt(const std::string& user, size_t rus, Duration held);
  // A task of the user held this many units for this long beyond those that count as its attempt.
  void addUnits(const std::string& user, size_t rus, Duration held);
  // A job of the user has ended. Requires: the state is final.
  void addJob(const std::string& user, RunState state);

  // Sets the shares of the user in the cluster. Requires: 1 to kMaxShares, takes(user).
  void setShares(const std::string& user, uint32_t shares) { of(user).shares = shares; }

  // Whether there is a record of the user, or a place for one: there are kMaxUsers.
  bool takes(const std::string& user) const { return ofUser_.contains(user) || ofUser_.size() < kMaxUsers; }

  // By user.
  const std::map<std::string, Usage>& all() const { return ofUser_; }
  // Those that changed since the last call.
  std::vector<Usage> takeChanged();

 private:
  Usage& of(const std::string& user);

  std::map<std::string, Usage> ofUser_;
  std::set<std::string> changed_;
};

}  // namespace tarcil::master
