// Who has used how much of the cluster: counted as tasks and jobs end, stored with their end.
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

  // An attempt of this user's has ended, after it held so many units for so long.
  void addAttempt(const std::string& user, size_t rus, Duration held);
  // A task of this user's held so many units for so long beside those that count as its attempt.
  void addUnits(const std::string& user, size_t rus, Duration held);
  // A job of this user's has ended. Requires: the state is final.
  void addJob(const std::string& user, RunState state);

  // The user gets so much of the cluster, beside others. Requires: 1 to kMaxShares.
  void setShares(const std::string& user, uint32_t shares) { of(user).shares = shares; }

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
