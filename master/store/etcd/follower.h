// The state of a store in etcd as a master holds it that waits to lead: what its journal says, as it comes
// (docs/masters.md). Single-threaded; does I/O and waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "env/clock.h"
#include "etcd/client.h"
#include "master/store/etcd/etcd_keys.h"
#include "master/store/etcd/etcd_reading.h"

namespace tarcil {

// By key, as bytes; without decisions and input files, which no master has in memory.
using HeldRecords = std::map<std::string, std::string>;

class Follower final {
 public:
  // `client` and `clock` outlive it.
  Follower(etcd::Client& client, EtcdKeys keys, const Clock& clock)
      : client_(client), keys_(std::move(keys)), clock_(clock) {}

  // Takes what the journal says until the key of the leader, which was there at `revision`, is erased, or
  // half a second is over. Reads the whole store first where it holds none, or lacks what has been compacted
  // away meanwhile, and returns then. Errors as readState(); what it holds stays good.
  Status follow(int64_t revision);

  // Reads some of the records anew, others with each call, and holds them against what it has. Internal, and
  // nothing is held any more, where they differ. Ok where the leader writes meanwhile, without an answer.
  Status compareSome();

  // The records as this state of the store has them, and none are held any more; nullopt where that cannot be
  // told from what is held.
  std::optional<HeldRecords> takeRecords(const EtcdState& state);

  bool hasState() const { return hasState_; }
  uint64_t batch() const { return batch_; }  // the last that is taken
  // When what it holds was all that there is; the epoch where it holds nothing.
  MonotonicTime completeAt() const { return completeAt_; }
  uint64_t records() const { return records_.size(); }

 private:
  Status load();
  // Whether no batch is behind the one that was taken last, and as of which revision.
  Status lookForMore();
  Status take(const etcd::KeyValue& batch);
  void apply(const Unfolded& changes);
  void forget();

  etcd::Client& client_;
  const EtcdKeys keys_;
  const Clock& clock_;
  HeldRecords records_;
  bool hasState_ = false;
  uint64_t batch_ = 0;
  int64_t batchRevision_ = 0;  // at which it was put
  int64_t revision_ = 0;       // of etcd; what is behind it is watched
  MonotonicTime completeAt_{};
  std::string compareFrom_;  // key
};

}  // namespace tarcil
