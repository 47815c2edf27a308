#include "sim/faults/master_etcd.h"

#include <utility>

namespace tarcil::sim {
namespace {

constexpr Duration kAgain = std::chrono::milliseconds(500);  // where nothing was answered
// A standby that is told nothing asks again after so long.
constexpr Duration kUnlessItIsTold = std::chrono::seconds(5);
constexpr Duration kBetweenRenewals = EtcdModel::kLease / 4;

}  // namespace

// --- Requests ---------------------------------------------------------------------------------------------

void MasterEtcd::whenItRuns(std::function<void()> what) {
  if (!isPaused()) return what();
  waiting_.push_back(std::move(what));
}

void MasterEtcd::pauseFor(Duration duration) {
  pausedUntil_ = std::max(pausedUntil_, world_.now().steady + duration);
  after(duration, [this] {
    if (world_.now().steady >= pausedUntil_) goOn();
  });
}

// In the order in which it came: that of what peers have sent is promised.
void MasterEtcd::goOn() {
  const uint64_t before = life();
  for (const auto& what : std::exchange(waiting_, {})) {
    if (life() != before) return;
    what();
  }
}

template <typename Answer>
void MasterEtcd::ask(std::function<Answer()> atEtcd, std::function<void(Answer)> answered) {
  const auto isCut = [this] { return world_.now().steady < cutUntil_; };
  if (isCut()) return;
  // It arrives whatever has become of the process.
  world_.after(world_.delay() + slowness(),
               [this, isCut, atEtcd = std::move(atEtcd), answered = std::move(answered), life = life()] {
                 if (isCut()) return;
                 const Answer answer = atEtcd();
                 world_.after(world_.delay(), [this, isCut, answer, answered, life] {
                   if (life == this->life() && !isCut()) whenItRuns([answered, answer] { answered(answer); });
                 });
               });
}

// --- Who leads --------------------------------------------------------------------------------------------

void MasterEtcd::standBy(std::function<void(MemoryStore&)> elected) {
  elected_ = std::move(elected);
  if (etcd_.bug() == EtcdBug::kStaleStandby) held_ = std::make_unique<MemoryStore>(etcd_.store());
  askToLead();
}

void MasterEtcd::askToLead() {
  if (term_ != 0) return;
  const MonotonicTime asked = clock_.now().steady;
  ask<Term>([this] { return etcd_.elect(); },
            [this, asked](Term term) {
              if (term != 0 && term_ == 0) lead(term, asked);
            });
  const uint64_t asking = ++asking_;
  if (!std::exchange(isWatching_, true)) {
    etcd_.watchLeader([this, life = life()] {
      if (life != this->life()) return;
      isWatching_ = false;
      after(world_.delay(), [this] { whenItRuns([this] { askToLead(); }); });
    });
  }
  after(kUnlessItIsTold, [this, asking] {
    if (asking == asking_) whenItRuns([this] { askToLead(); });
  });
}

// What is in the store then: nobody else writes from now on.
void MasterEtcd::lead(Term term, MonotonicTime asked) {
  term_ = term;
  number_ = etcd_.batches();
  extend(asked);
  if (!holdsLease()) return end();
  renewAgainAndAgain();
  endWithTheLease();
  std::exchange(elected_, nullptr)(held_ ? *held_ : etcd_.store());
}

void MasterEtcd::renewAgainAndAgain() {
  const MonotonicTime asked = clock_.now().steady;
  ask<bool>([this, term = term_] { return etcd_.renew(term); },
            [this, asked](bool leads) { leads ? extend(asked) : end(); });
  after(kBetweenRenewals, [this] { whenItRuns([this] { renewAgainAndAgain(); }); });
}

// A quarter less: clocks run differently.
void MasterEtcd::extend(MonotonicTime asked) {
  const bool isWrong = etcd_.bug() == EtcdBug::kLeaseFromAnswer;
  const MonotonicTime until =
      isWrong ? clock_.now().steady + EtcdModel::kLease : asked + EtcdModel::kLease * 3 / 4;
  deadline_ = std::max(deadline_, until);
}

void MasterEtcd::endWithTheLease() {
  after(clock_.truth(deadline_) - world_.now().steady,
        [this] { whenItRuns([this] { holdsLease() ? endWithTheLease() : end(); }); });
}

void MasterEtcd::resign() {
  world_.after(world_.delay(), [this, term = term_] { etcd_.resign(term); });
}

void MasterEtcd::end() {
  if (std::exchange(isEnding_, true)) return;
  failed();
}

// --- Batches ----------------------------------------------------------------------------------------------

void MasterEtcd::begin(const std::vector<Mutation>& batch) {
  batch_ = std::make_shared<const std::vector<Mutation>>(batch);
  ++number_;
  put();
  if (etcd_.bug() == EtcdBug::kGateBeforePut) after(Duration::zero(), [this] { written(); });
}

// Again and again as it is, until it is answered.
void MasterEtcd::put() {
  ask<bool>(
      [this, term = term_, number = number_, batch = batch_] {
        return etcd_.put(term, number, *batch,
                         [this](const std::vector<Mutation>& put) { owner_.stored(put); });
      },
      [this, number = number_](bool isThere) {
        if (number != number_ || !isWriting()) return;
        isThere ? written() : end();
      });
  after(kAgain, [this, number = number_] {
    whenItRuns([this, number] {
      if (number != number_ || !isWriting()) return;
      etcd_.bug() == EtcdBug::kOutcomeGuessed ? written() : put();
    });
  });
}

void MasterEtcd::processDied(const std::vector<Mutation>*) {
  term_ = 0;
  deadline_ = {};
  batch_ = nullptr;
  elected_ = nullptr;
  held_ = nullptr;
  isEnding_ = isWatching_ = false;
  pausedUntil_ = {};
  waiting_.clear();
}

}  // namespace tarcil::sim
