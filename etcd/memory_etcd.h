// An etcd in memory, for tests: linearizable, with all revisions, and with questions and answers that get
// lost.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "etcd/client.h"

namespace tarcil::etcd {

// Each client of one of these is this object itself. Safe from any thread.
class MemoryEtcd : public Client {
 public:
  // What becomes of a transaction.
  enum class Fate : uint8_t { kAnswered, kQuestionLost, kAnswerLost, kNoSpace };
  // Asked of each transaction; by default all are answered.
  void setFate(std::function<Fate(const Transaction&)> fate);
  // All leases end, and their keys.
  void endLeases();
  // Nothing is answered any more, or everything again.
  void setReachable(bool isReachable);
  // Every key that is there, and its value.
  std::map<std::string, std::string> now() const;
  // As somebody else would.
  void put(const std::string& key, const std::string& value);
  uint64_t transactions() const;

  Result<Outcome> commit(const Transaction& transaction, Duration atMost) override;
  Result<Found> get(const Range& range, Duration atMost) override;
  Result<Lease> grant(Duration life, Duration atMost) override;
  Result<Lease> renew(int64_t lease, Duration atMost) override;
  Status revoke(int64_t lease, Duration atMost) override;
  Status watch(const Range& range, Duration atMost,
               const std::function<bool(const std::vector<Event>&, int64_t revision)>& take) override;
  Status compact(int64_t revision, Duration atMost) override;
  Result<Size> size(Duration atMost) override;

 private:
  struct Version {
    int64_t created = 0, modified = 0;
    std::optional<std::string> value{};  // nullopt: erased
    int64_t lease = 0;
  };
  using Versions = std::map<std::string, std::vector<Version>>;

  static bool isIn(const std::string& key, const std::string& begin, const std::string& end) {
    return end.empty() ? key == begin : key >= begin && key < end;
  }
  const Version* at(const std::vector<Version>& versions, int64_t revision) const;
  bool holds(const Compare& compare) const;
  std::vector<KeyValue> read(const Range& range, int64_t revision) const;
  std::vector<KeyValue> carryOut(const Operation& operation, int64_t revision);
  void erase(const std::string& key, const std::string& end, int64_t revision);
  void endKeysOf(int64_t lease);
  Status reached() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Versions versions_;
  std::map<int64_t, Duration> leases_;
  std::function<Fate(const Transaction&)> fate_;
  int64_t revision_ = 1, compacted_ = 0, nextLease_ = 1;
  uint64_t transactions_ = 0;
  bool isReachable_ = true;
};

}  // namespace tarcil::etcd
