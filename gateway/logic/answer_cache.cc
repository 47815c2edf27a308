#include "gateway/logic/answer_cache.h"

namespace tarcil::gateway {

const AnswerCache::Kept* AnswerCache::find(const std::string& user, const std::string& question,
                                           MonotonicTime now) {
  const auto found = byKey_.find(keyOf(user, question));
  if (found == byKey_.end()) return nullptr;
  if (now - found->second->answer.made >= fresh_) {
    erase(found->second);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front().answer;
}

void AnswerCache::put(const std::string& user, const std::string& question, Kept answer) {
  std::string key = keyOf(user, question);
  if (const auto there = byKey_.find(key); there != byKey_.end()) erase(there->second);
  Entry entry{user, key, std::move(answer)};
  if (bytesOf(entry) > bytes_) return;
  used_ += bytesOf(entry);
  entries_.push_front(std::move(entry));
  byKey_.emplace(std::move(key), entries_.begin());
  while (used_ > bytes_) erase(std::prev(entries_.end()));
}

void AnswerCache::forget(const std::string& user) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->user == user) erase(entry);
    entry = next;
  }
}

void AnswerCache::erase(Entries::iterator entry) {
  used_ -= bytesOf(*entry);
  byKey_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace tarcil::gateway
