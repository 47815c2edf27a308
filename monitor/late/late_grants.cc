#include "monitor/late/late_grants.h"

#include <algorithm>

namespace tarcil {

void GrantKeys::set(const std::optional<PublicKey>& key) {
  if (!key) return keys_.clear();
  std::erase(keys_, *key);
  keys_.push_front(*key);
  if (keys_.size() > kMaxKeys) keys_.pop_back();
}

bool GrantKeys::haveSigned(const LateGrant& grant) const {
  return std::ranges::any_of(keys_, [&grant](const PublicKey& key) { return isSignedBy(grant, key); });
}

void ShownGrants::add(LateGrant grant, WallTime now) {
  if (!agent_.empty() && grant.agent != agent_) return;
  auto key = std::pair(grant.user, grant.runAs);
  if (held_.size() >= kMaxUsers && !held_.contains(key)) {
    std::erase_if(held_, [now](const auto& each) { return each.second.hasEnded(now); });
    if (held_.size() >= kMaxUsers) return;
  }
  held_[std::move(key)].shown = std::move(grant);
}

ShownGrants::Verdict ShownGrants::judge(const std::string& user, const std::string& runAs, WallTime now,
                                        const GrantKeys& keys) {
  if (keys.areNone()) return Verdict::kGranted;
  const auto found = held_.find({user, runAs});
  if (found == held_.end()) return Verdict::kDenied;
  Held& held = found->second;
  if (held.shown && keys.haveSigned(*held.shown)) {
    held.until = std::max(held.until, held.shown->until);
    held.shown.reset();
  }
  if (held.until > now) return Verdict::kGranted;
  return held.shown && held.shown->until > now ? Verdict::kNotYet : Verdict::kDenied;
}

}  // namespace tarcil
