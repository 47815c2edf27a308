#include "monitor/logic/performance/trouble_book.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

constexpr Duration kLeastInterval = std::chrono::seconds(1);
constexpr size_t kMostTroubles = 1'000;  // of one message

}  // namespace

void TroubleBook::note(const Trouble& trouble) {
  words_.insert_or_assign(trouble.allocation, Word{trouble, ++notes_, true});
}

void TroubleBook::forget(AllocationId task) {
  words_.erase(task);
}

void TroubleBook::attached() {
  detached();
  attached_ = true;
  for (auto& [task, word] : words_) word.due = true;
}

void TroubleBook::detached() {
  attached_ = false;
  underWay_.clear();
  sent_.reset();
}

std::vector<Trouble> TroubleBook::due(MonotonicTime now) {
  std::vector<Trouble> troubles;
  if (const auto next = nextDue(); !next || *next > now) return troubles;
  for (const auto& [task, word] : words_) {
    if (!word.due || troubles.size() == kMostTroubles) continue;
    troubles.push_back(word.trouble);
    underWay_.emplace(task, word.number);
  }
  if (!troubles.empty()) sent_ = now;
  return troubles;
}

void TroubleBook::taken() {
  for (const auto& [task, number] : std::exchange(underWay_, {})) {
    const auto found = words_.find(task);
    if (found == words_.end() || found->second.number != number) continue;
    found->second.due = false;
    if (found->second.trouble.over) words_.erase(found);
  }
}

std::optional<MonotonicTime> TroubleBook::nextDue() const {
  const bool any =
      std::any_of(words_.begin(), words_.end(), [](const auto& word) { return word.second.due; });
  if (!any || !attached_ || !underWay_.empty()) return std::nullopt;
  return sent_ ? *sent_ + kLeastInterval : MonotonicTime{};
}

}  // namespace tarcil
