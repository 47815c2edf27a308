#include "master/store/etcd/unfolded.h"

namespace tarcil {

void Unfolded::set(std::string key, Value value, uint64_t batch) {
  const auto [at, isNew] = entries_.try_emplace(std::move(key));
  if (!isNew) bytes_ -= bytesOf(at->first, at->second);
  at->second = {std::move(value), batch};
  bytes_ += bytesOf(at->first, at->second);
}

void Unfolded::add(uint64_t batch, std::vector<Change> changes) {
  last_ = batch;
  ++batches_;
  for (Change& change : changes) {
    switch (change.what) {
      case Change::What::kPut:
        set(std::move(change.key), std::make_shared<const std::string>(std::move(change.rest)), batch);
        break;
      case Change::What::kErase:
        set(std::move(change.key), nullptr, batch);
        break;
      case Change::What::kEraseRange: {
        auto at = entries_.lower_bound(change.key);
        while (at != entries_.end() && at->first < change.rest) {
          bytes_ -= bytesOf(at->first, at->second);
          at = entries_.erase(at);
        }
        // Ranges are of a job's records: two that begin alike are the same.
        ranges_[std::move(change.key)] = {std::move(change.rest), batch};
      }
    }
  }
}

void Unfolded::folded(uint64_t batch) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.batch > batch) {
      ++at;
      continue;
    }
    bytes_ -= bytesOf(at->first, at->second);
    at = entries_.erase(at);
  }
  std::erase_if(ranges_, [batch](const auto& range) { return range.second.batch <= batch; });
  batches_ = last_ - batch;
}

Unfolded Unfolded::between(const std::string& begin, const std::string& end) const {
  Unfolded part;
  part.entries_.insert(entries_.lower_bound(begin), entries_.lower_bound(end));
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin()) --range;
  part.ranges_.insert(range, ranges_.lower_bound(end));
  return part;
}

std::optional<Unfolded::Value> Unfolded::find(const std::string& key) const {
  if (const auto at = entries_.find(key); at != entries_.end()) return at->second.value;
  auto range = ranges_.upper_bound(key);
  if (range == ranges_.begin()) return std::nullopt;
  --range;
  if (key < range->second.end) return Value();
  return std::nullopt;
}

}  // namespace tarcil
