#include "gateway/logic/known_tokens.h"

#include <iterator>
#include <utility>

namespace tarcil::gateway {

void KnownTokens::remember(const std::string& token, Answer answer) {
  if (const auto there = byToken_.find(token); there != byToken_.end()) {
    inOrder_.erase(there->second);
    byToken_.erase(there);
  }
  inOrder_.push_back({token, std::move(answer)});
  byToken_.emplace(token, std::prev(inOrder_.end()));
  if (inOrder_.size() <= most_) return;
  byToken_.erase(inOrder_.front().token);
  inOrder_.pop_front();
}

const KnownTokens::Answer* KnownTokens::at(const std::string& token, MonotonicTime now) const {
  const auto found = byToken_.find(token);
  if (found == byToken_.end() || found->second->answer.until <= now) return nullptr;
  return &found->second->answer;
}

}  // namespace tarcil::gateway
