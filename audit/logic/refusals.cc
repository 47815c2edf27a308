#include "audit/logic/refusals.h"

#include <utility>

namespace tarcil::audit {

std::optional<Entry> Refusals::take(Entry entry, MonotonicTime now) {
  if (!until_) until_ = now + kPeriod;
  Kind kind{entry.by.user, entry.action, entry.outcome};
  auto found = kinds_.find(kind);
  if (found == kinds_.end()) {
    if (kinds_.size() < kMaxKinds) {
      kinds_.emplace(std::move(kind), Counted{});
      return entry;
    }
    entry = Entry{.time = entry.time,
                  .by = {},
                  .action = "others",
                  .object = {},
                  .outcome = "Denied",
                  .detail = "more kinds of refusals in a second than are told apart"};
    found = kinds_.try_emplace(Kind{"", entry.action, entry.outcome}).first;
  }
  std::optional<Entry>& latest = found->second.latest;
  entry.count = latest ? latest->count + 1 : 1;
  latest = std::move(entry);
  return std::nullopt;
}

std::vector<Entry> Refusals::takeDue(MonotonicTime now) {
  std::vector<Entry> due;
  if (!until_ || now < *until_) return due;
  for (auto& [kind, counted] : kinds_) {
    if (counted.latest) due.push_back(std::move(*counted.latest));
  }
  kinds_.clear();
  until_.reset();
  return due;
}

std::optional<MonotonicTime> Refusals::nextDue() const {
  return until_;
}

}  // namespace tarcil::audit
