// An etcd as several masters use it (docs/masters.md): who leads, and one batch after the other. What is
// modelled is what etcd promises: a key ends with its lease or later, and a transaction compares and writes
// at one moment. Requests and answers travel in master_etcd.h.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "master/store/memory_store.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

// Mistakes of the protocol, planted to see that they are found.
enum class EtcdBug : uint8_t {
  kNone,
  kNoFencing,        // a batch is put whoever leads
  kGateBeforePut,    // it is told before etcd has it
  kLeaseFromAnswer,  // the lease counts from etcd's answer, and all of it
  kStaleStandby,     // a master leads with what it held when it began to stand by
  kOutcomeGuessed,   // a put that is not answered counts as written
};

// A master's time as a leader. 0: none.
using Term = uint64_t;

class EtcdModel {
 public:
  static constexpr Duration kLease = std::chrono::seconds(2);

  // `store` is what is in it; `stored` is told of each batch that is put there. All outlive it.
  EtcdModel(VirtualWorld& world, MemoryStore& store, EtcdBug bug) : world_(world), store_(store), bug_(bug) {}

  // --- Requests, as they arrive

  // The new leader's term; 0 where another one leads.
  Term elect();
  // Whether it leads still, for kLease from now on at least.
  bool renew(Term term);
  void resign(Term term);
  // Puts the batch of this number, which follows on the one before. Whether it is there now.
  bool put(Term term, uint64_t number, const std::vector<Mutation>& batch,
           const std::function<void(const std::vector<Mutation>&)>& stored);

  // Calls it once, when nobody leads any more.
  void watchLeader(std::function<void()> gone) { watchers_.push_back(std::move(gone)); }

  // --- What is so

  // 0 while nobody leads.
  Term leads();
  // Of the latest leader, who may not lead any more.
  Term highestTerm() const { return terms_; }
  uint64_t batches() const { return batches_; }
  MemoryStore& store() { return store_; }
  EtcdBug bug() const { return bug_; }

 private:
  void lookForTheEnd();
  void tellThatNobodyLeads();

  VirtualWorld& world_;
  MemoryStore& store_;
  const EtcdBug bug_;
  Term terms_ = 0, leader_ = 0;
  MonotonicTime leaseEnds_{};
  uint64_t batches_ = 0;
  Term lastWriter_ = 0;  // of the last batch
  std::vector<std::function<void()>> watchers_;
};

}  // namespace tarcil::sim
