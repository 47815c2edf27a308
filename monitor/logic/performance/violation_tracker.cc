#include "monitor/logic/performance/violation_tracker.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

constexpr Duration kMinInterval = std::chrono::seconds(1);
constexpr size_t kMaxViolations = 1'000;  // of one message

}  // namespace

void ViolationTracker::note(const Violation& violation) {
  words_.insert_or_assign(violation.allocation, Word{violation, ++notes_, true});
}

void ViolationTracker::forget(AllocationId task) {
  words_.erase(task);
}

void ViolationTracker::attached() {
  detached();
  attached_ = true;
  for (auto& [task, word] : words_) word.due = true;
}

void ViolationTracker::detached() {
  attached_ = false;
  underWay_.clear();
  sent_.reset();
}

std::vector<Violation> ViolationTracker::due(MonotonicTime now) {
  std::vector<Violation> violations;
  if (const auto next = nextDue(); !next || *next > now) return violations;
  for (const auto& [task, word] : words_) {
    if (!word.due || violations.size() == kMaxViolations) continue;
    violations.push_back(word.violation);
    underWay_.emplace(task, word.number);
  }
  if (!violations.empty()) sent_ = now;
  return violations;
}

void ViolationTracker::taken() {
  for (const auto& [task, number] : std::exchange(underWay_, {})) {
    const auto found = words_.find(task);
    if (found == words_.end() || found->second.number != number) continue;
    found->second.due = false;
    if (found->second.violation.over) words_.erase(found);
  }
}

std::optional<MonotonicTime> ViolationTracker::nextDue() const {
  const bool any =
      std::any_of(words_.begin(), words_.end(), [](const auto& word) { return word.second.due; });
  if (!any || !attached_ || !underWay_.empty()) return std::nullopt;
  return sent_ ? *sent_ + kMinInterval : MonotonicTime{};
}

}  // namespace tarcil
