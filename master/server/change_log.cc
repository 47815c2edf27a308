#include "master/server/change_log.h"

#include <functional>

namespace tarcil {

size_t ChangeLog::HashOfWhat::operator()(const What& what) const {
  if (const auto* job = std::get_if<JobId>(&what)) return std::hash<JobId>()(*job);
  return std::hash<ServerId>()(std::get<ServerId>(what));
}

void ChangeLog::add(const What& what) {
  uint64_t& number = numbers_[what];
  if (number != 0) changes_.erase(number);
  number = ++last_;
  changes_.emplace_hint(changes_.end(), number, what);
  if (changes_.size() <= most_) return;
  const auto oldest = changes_.begin();
  forgotten_ = oldest->first;
  numbers_.erase(oldest->second);
  changes_.erase(oldest);
}

std::optional<std::vector<ChangeLog::Change>> ChangeLog::behind(uint64_t number, size_t atMost) const {
  if (number < forgotten_ || number > last_) return std::nullopt;
  std::vector<Change> changes;
  for (auto it = changes_.upper_bound(number); it != changes_.end() && changes.size() < atMost; ++it) {
    changes.push_back({it->first, it->second});
  }
  return changes;
}

}  // namespace tarcil
