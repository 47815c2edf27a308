#include "master/logic/jobs/usage_table.h"

#include <algorithm>
#include <utility>

namespace tarcil::master {

UsageTable::UsageTable(std::vector<Usage> stored) {
  for (Usage& usage : stored) {
    const std::string user = usage.user;
    ofUser_[user] = std::move(usage);
  }
}

Usage& UsageTable::of(const std::string& user) {
  changed_.insert(user);
  Usage& usage = ofUser_[user];
  usage.user = user;
  return usage;
}

void UsageTable::addAttempt(const std::string& user, size_t rus, Duration held) {
  ++of(user).attempts;
  addUnits(user, rus, held);
}

void UsageTable::addUnits(const std::string& user, size_t rus, Duration held) {
  // The wall clock may have been set back meanwhile.
  of(user).ruMicroseconds += rus * static_cast<uint64_t>(std::max(held, Duration::zero()).count());
}

void UsageTable::addJob(const std::string& user, RunState state) {
  Usage& usage = of(user);
  if (state == RunState::kDone) ++usage.done;
  if (state == RunState::kFailed) ++usage.failed;
  if (state == RunState::kCancelled) ++usage.cancelled;
  if (state == RunState::kLost) ++usage.lost;
}

std::vector<Usage> UsageTable::takeChanged() {
  std::vector<Usage> changed;
  for (const std::string& user : std::exchange(changed_, {})) changed.push_back(ofUser_.at(user));
  return changed;
}

}  // namespace tarcil::master
