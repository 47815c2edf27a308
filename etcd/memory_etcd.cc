#include "etcd/memory_etcd.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace tarcil::etcd {
namespace {

Error noAnswer() {
  return {ErrorCode::kUnavailable, "etcd in memory: no answer"};
}

// What a real one refuses.
Status requireTakeable(const Transaction& transaction) {
  const size_t most =
      std::max({transaction.compares.size(), transaction.then.size(), transaction.otherwise.size()});
  if (most > kMaxOperations) return invalid("etcd in memory: too many operations in txn request");
  size_t bytes = 0;
  std::set<std::string> put;
  for (const Operation& operation : transaction.then) {
    bytes += operation.key.size() + operation.end.size() + operation.value.size();
    if (operation.what == Operation::What::kPut && !put.insert(operation.key).second) {
      return invalid("etcd in memory: duplicate key given in txn request");
    }
  }
  for (const Operation& operation : transaction.then) {
    if (operation.what != Operation::What::kErase) continue;
    const auto first = put.lower_bound(operation.key);
    const bool isHit =
        first != put.end() && (operation.end.empty() ? *first == operation.key : *first < operation.end);
    if (isHit) return invalid("etcd in memory: duplicate key given in txn request");
  }
  if (bytes > 1536 << 10) return invalid("etcd in memory: request is too large");
  return {};
}

}  // namespace

void MemoryEtcd::setFate(std::function<Fate(const Transaction&)> fate) {
  const std::lock_guard lock(mutex_);
  fate_ = std::move(fate);
}

void MemoryEtcd::setReachable(bool isReachable) {
  const std::lock_guard lock(mutex_);
  isReachable_ = isReachable;
}

void MemoryEtcd::endLeases() {
  const std::lock_guard lock(mutex_);
  const auto ended = std::exchange(leases_, {});
  for (const auto& [lease, life] : ended) endKeysOf(lease);
}

std::map<std::string, std::string> MemoryEtcd::now() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> keys;
  for (const auto& [key, versions] : versions_) {
    if (versions.back().value) keys[key] = *versions.back().value;
  }
  return keys;
}

void MemoryEtcd::put(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  carryOut({.what = Operation::What::kPut, .key = key, .value = value}, ++revision_);
}

uint64_t MemoryEtcd::transactions() const {
  const std::lock_guard lock(mutex_);
  return transactions_;
}

const MemoryEtcd::Version* MemoryEtcd::at(const std::vector<Version>& versions, int64_t revision) const {
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->modified <= revision) return version->value ? &*version : nullptr;
  }
  return nullptr;
}

bool MemoryEtcd::holds(const Compare& compare) const {
  const auto found = versions_.find(compare.key);
  const Version* version = found == versions_.end() ? nullptr : at(found->second, revision_);
  if (version == nullptr) return compare.revision == 0;
  return compare.revision == (compare.what == Compare::What::kCreated ? version->created : version->modified);
}

std::vector<KeyValue> MemoryEtcd::read(const Range& range, int64_t revision) const {
  std::vector<KeyValue> found;
  for (auto key = versions_.lower_bound(range.key);
       key != versions_.end() && isIn(key->first, range.key, range.end); ++key) {
    const Version* version = at(key->second, revision);
    if (version == nullptr) continue;
    found.push_back({key->first, range.keysOnly ? "" : *version->value, version->created, version->modified});
  }
  return found;
}

void MemoryEtcd::erase(const std::string& begin, const std::string& end, int64_t revision) {
  for (auto key = versions_.lower_bound(begin); key != versions_.end() && isIn(key->first, begin, end);
       ++key) {
    if (key->second.back().value) key->second.push_back({0, revision});
  }
}

std::vector<KeyValue> MemoryEtcd::carryOut(const Operation& operation, int64_t revision) {
  switch (operation.what) {
    case Operation::What::kPut: {
      auto& versions = versions_[operation.key];
      const bool isThere = !versions.empty() && versions.back().value;
      const int64_t created = isThere ? versions.back().created : revision;
      versions.push_back({created, revision, operation.value, operation.lease});
      return {};
    }
    case Operation::What::kErase:
      erase(operation.key, operation.end, revision);
      return {};
    case Operation::What::kGet:
      return read({.key = operation.key, .end = operation.end}, revision_);
  }
  return {};
}

void MemoryEtcd::endKeysOf(int64_t lease) {
  ++revision_;
  for (auto& [key, versions] : versions_) {
    if (versions.back().value && versions.back().lease == lease) versions.push_back({0, revision_});
  }
  changed_.notify_all();
}

Status MemoryEtcd::reached() const {
  return isReachable_ ? Status() : Status(noAnswer());
}

Result<Outcome> MemoryEtcd::commit(const Transaction& transaction, Duration) {
  const std::lock_guard lock(mutex_);
  if (const Status status = reached(); !status) return status.error();
  if (const Status status = requireTakeable(transaction); !status) return status.error();
  const Fate fate = fate_ ? fate_(transaction) : Fate::kAnswered;
  if (fate == Fate::kQuestionLost) return noAnswer();
  if (fate == Fate::kNoSpace) return Error{ErrorCode::kExhausted, "etcd in memory: database space exceeded"};
  ++transactions_;
  Outcome outcome;
  outcome.held = std::all_of(transaction.compares.begin(), transaction.compares.end(),
                             [this](const Compare& compare) { return holds(compare); });
  const auto& operations = outcome.held ? transaction.then : transaction.otherwise;
  const bool writes = std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
    return operation.what != Operation::What::kGet;
  });
  const int64_t revision = writes ? revision_ + 1 : revision_;
  for (const Operation& operation : operations) outcome.found.push_back(carryOut(operation, revision));
  outcome.revision = revision_ = revision;
  changed_.notify_all();
  if (fate == Fate::kAnswerLost) return noAnswer();
  return outcome;
}

Result<Found> MemoryEtcd::get(const Range& range, Duration) {
  const std::lock_guard lock(mutex_);
  if (const Status status = reached(); !status) return status.error();
  if (range.revision != 0 && range.revision < compacted_)
    return Error{ErrorCode::kConflict, "etcd in memory: compacted"};
  const int64_t revision = range.revision == 0 ? revision_ : range.revision;
  Found found{read(range, revision), false, revision};
  if (range.limit > 0 && found.records.size() > static_cast<size_t>(range.limit)) {
    found.records.resize(static_cast<size_t>(range.limit));
    found.more = true;
  }
  return found;
}

Result<Lease> MemoryEtcd::grant(Duration life, Duration) {
  const std::lock_guard lock(mutex_);
  if (const Status status = reached(); !status) return status.error();
  leases_[nextLease_] = life;
  return Lease{nextLease_++, life};
}

Result<Lease> MemoryEtcd::renew(int64_t lease, Duration) {
  const std::lock_guard lock(mutex_);
  if (const Status status = reached(); !status) return status.error();
  const auto found = leases_.find(lease);
  return Lease{lease, found == leases_.end() ? Duration::zero() : found->second};
}

Status MemoryEtcd::revoke(int64_t lease, Duration) {
  const std::lock_guard lock(mutex_);
  if (Status status = reached(); !status) return status;
  leases_.erase(lease);
  endKeysOf(lease);
  return {};
}

Status MemoryEtcd::watch(const Range& range, Duration atMost,
                         const std::function<bool(const std::vector<Event>&, int64_t)>& take) {
  std::unique_lock lock(mutex_);
  if (range.revision < compacted_) return Error{ErrorCode::kConflict, "etcd in memory: compacted"};
  int64_t next = range.revision;
  const auto until = std::chrono::steady_clock::now() + atMost;
  while (true) {
    std::map<int64_t, std::vector<Event>> events;
    for (auto key = versions_.lower_bound(range.key);
         key != versions_.end() && isIn(key->first, range.key, range.end); ++key) {
      for (const Version& version : key->second) {
        if (version.modified < next) continue;
        events[version.modified].push_back(
            {!version.value, {key->first, version.value.value_or(""), version.created, version.modified}});
      }
    }
    // Who is told may ask something.
    lock.unlock();
    for (const auto& [revision, of] : events) {
      if (!take(of, revision)) return {};
      next = revision + 1;
    }
    lock.lock();
    if (!events.empty()) continue;
    if (changed_.wait_until(lock, until) == std::cv_status::timeout) return {};
  }
}

Status MemoryEtcd::compact(int64_t revision, Duration) {
  const std::lock_guard lock(mutex_);
  if (Status status = reached(); !status) return status;
  if (revision <= compacted_) return Error{ErrorCode::kConflict, "etcd in memory: compacted"};
  compacted_ = revision;
  for (auto& [key, versions] : versions_) {
    while (versions.size() > 1 && versions[1].modified <= revision) versions.erase(versions.begin());
  }
  return {};
}

Result<Size> MemoryEtcd::size(Duration) {
  const std::lock_guard lock(mutex_);
  if (const Status status = reached(); !status) return status.error();
  Size size;
  for (const auto& [key, versions] : versions_) {
    for (const Version& version : versions) size.onDisk += key.size() + version.value.value_or("").size();
  }
  size.inUse = size.onDisk;
  return size;
}

}  // namespace tarcil::etcd
