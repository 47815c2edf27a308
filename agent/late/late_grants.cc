#include "agent/late/late_grants.h"

#include "rpc/errors.h"

namespace tarcil {

Result<LateGrants::Ref> LateGrants::find(const std::string& user, const std::string& runAs) const {
  const auto found = entries_.find({user, runAs});
  if (found != entries_.end()) {
    const auto& [held, problem, isAsking, asked] = found->second;
    if (held != nullptr && held->grant.until > clock_.now().wall) return held;
    if (problem) return *problem;
  }
  return Error{ErrorCode::kUnavailable,
               "the master has not said yet that tasks of " + user + " may run as " + runAs};
}

kj::Promise<void> LateGrants::get(const std::string& user, const std::string& runAs) {
  const auto [place, isNew] = entries_.try_emplace({user, runAs});
  if (!place->second.isAsking) ask(place->first, place->second);
  auto answer = place->second.asked.addBranch();
  if (isNew && entries_.size() > kMaxIdle) {
    std::erase_if(entries_, [](const auto& each) {
      return !each.second.isAsking && (each.second.held == nullptr || each.second.held.use_count() == 1);
    });
  }
  return answer;
}

void LateGrants::use(const Ref& held) {
  const MonotonicTime now = clock_.now().steady;
  if (held->renewal > now) return;
  held->renewal = now + kPause;
  const auto found = entries_.find({held->grant.user, held->grant.runAs});
  if (found != entries_.end() && !found->second.isAsking) ask(found->first, found->second);
}

void LateGrants::masterAttached() {
  for (auto& [key, entry] : entries_) {
    if (entry.held != nullptr) entry.held->renewal = {};
  }
}

void LateGrants::ask(const Key& key, Entry& entry) {
  entry.isAsking = true;
  // What is asked for is not forgotten until it is answered.
  entry.asked = ask_(key.first, key.second)
                    .then(
                        [this, &entry](LateGrant&& grant) {
                          entry.isAsking = false;
                          take(entry, std::move(grant));
                        },
                        [&entry](kj::Exception&& exception) {
                          entry.isAsking = false;
                          entry.problem = fromException(exception);
                        })
                    .fork();
}

void LateGrants::take(Entry& entry, LateGrant grant) {
  entry.problem.reset();
  if (entry.held == nullptr) entry.held = std::make_shared<Held>();
  *entry.held = {std::move(grant), ++versions_, clock_.now().steady + kRenewal};
}

}  // namespace tarcil
