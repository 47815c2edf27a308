#include "agent/late/late_loads.h"

namespace tarcil {
namespace {

constexpr size_t kUsersToFillIt = 2;

LateLoad sum(const LateLoad& a, const LateLoad& b) {
  return {a.tasks + b.tasks, a.taskServers + b.taskServers, a.bytes + b.bytes};
}

LateLoad difference(const LateLoad& a, const LateLoad& b) {
  return {a.tasks - b.tasks, a.taskServers - b.taskServers, a.bytes - b.bytes};
}

bool isWithin(const LateLoad& load, const LateLoad& most, size_t parts) {
  return load.tasks <= most.tasks / parts && load.taskServers <= most.taskServers / parts &&
         load.bytes <= most.bytes / parts;
}

Error exhausted(const std::string& what) {
  return {ErrorCode::kExhausted, what + "; " + kTryAgain + ", or at another agent"};
}

}  // namespace

Status LateLoads::check(const std::string& user, const LateLoad& more) const {
  const auto found = ofUser_.find(user);
  const LateLoad before = found == ofUser_.end() ? LateLoad() : found->second;
  if (!isWithin(sum(before, more), most_, kUsersToFillIt)) {
    return exhausted("with this job, this agent would hold more late-bound tasks of " + user +
                     " than one user may have");
  }
  if (!isWithin(sum(all_, more), most_, 1)) return exhausted("this agent holds too many late-bound tasks");
  return {};
}

void LateLoads::add(const std::string& user, const LateLoad& load) {
  all_ = sum(all_, load);
  LateLoad& own = ofUser_[user];
  own = sum(own, load);
}

void LateLoads::remove(const std::string& user, const LateLoad& load) {
  all_ = difference(all_, load);
  const auto own = ofUser_.find(user);
  own->second = difference(own->second, load);
  if (own->second == LateLoad()) ofUser_.erase(own);
}

}  // namespace tarcil
