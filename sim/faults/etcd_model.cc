#include "sim/faults/etcd_model.h"

namespace tarcil::sim {
namespace {

// etcd looks for leases that are over now and then.
constexpr Duration kLate = std::chrono::milliseconds(500);

}  // namespace

Term EtcdModel::leads() {
  if (world_.now().steady >= leaseEnds_) leader_ = 0;
  return leader_;
}

Term EtcdModel::elect() {
  if (leads() != 0) return 0;
  leader_ = ++terms_;
  leaseEnds_ = world_.now().steady + kLease + world_.upTo(kLate);
  lookForTheEnd();
  return leader_;
}

void EtcdModel::lookForTheEnd() {
  world_.at(leaseEnds_, [this, term = leader_] {
    const Term now = leads();
    if (now == 0) return tellThatNobodyLeads();
    if (now == term) lookForTheEnd();
  });
}

void EtcdModel::tellThatNobodyLeads() {
  for (const auto& gone : std::exchange(watchers_, {})) gone();
}

bool EtcdModel::renew(Term term) {
  if (leads() != term) return false;
  leaseEnds_ = world_.now().steady + kLease + world_.upTo(kLate);
  return true;
}

void EtcdModel::resign(Term term) {
  if (leads() != term) return;
  leader_ = 0;
  tellThatNobodyLeads();
}

bool EtcdModel::put(Term term, uint64_t number, const std::vector<Mutation>& batch,
                    const std::function<void(const std::vector<Mutation>&)>& stored) {
  // It was put before, and the answer was lost.
  if (number == batches_ && lastWriter_ == term) return true;
  const bool isFenced = leads() != term && bug_ != EtcdBug::kNoFencing;
  if (isFenced || number != batches_ + 1) return false;
  if (term < terms_) world_.violated("a batch of a master that another one follows is put");
  batches_ = number;
  lastWriter_ = term;
  if (!store_.write(batch)) world_.violated("etcd failed");
  stored(batch);
  return true;
}

}  // namespace tarcil::sim
