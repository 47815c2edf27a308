// A master's way to etcd on virtual time, as docs/masters.md has it: it stands by until it leads, puts batch
// after batch, and holds its lease by its own clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/faults/etcd_model.h"
#include "sim/faults/machine_clock.h"
#include "sim/faults/master_storage.h"

namespace tarcil::sim {

class MasterEtcd final : public MasterStorage {
 public:
  // `clock` is of the master's machine.
  MasterEtcd(VirtualWorld& world, Owner& owner, EtcdModel& etcd, const MachineClock& clock)
      : MasterStorage(world, owner), etcd_(etcd), clock_(clock) {}

  // Asks to lead again and again; `elected` is told once, with what is in the store then.
  void standBy(std::function<void(MemoryStore&)> elected);
  // 0 where it does not lead, as far as it knows.
  Term term() const { return term_; }
  // By its own clock: whether nobody else can lead now.
  bool holdsLease() const { return term_ != 0 && clock_.now().steady < deadline_; }
  // Whatever it knows: whether it leads, and whether another one has led since.
  bool leadsInTruth() const { return etcd_.leads() == term_; }
  bool isFollowed() const { return term_ < etcd_.highestTerm(); }
  // It gives its lease back: another one leads at once.
  void resign();

  // --- Faults

  // Nothing gets to etcd or back.
  void cutFor(Duration duration) { cutUntil_ = world_.now().steady + duration; }
  // The process does not run for so long: what comes back waits.
  void pauseFor(Duration duration);
  bool isPaused() const { return world_.now().steady < pausedUntil_ || !waiting_.empty(); }
  // Calls it at once, or in turn when the process runs again, if it lives then.
  void whenItRuns(std::function<void()> what);
  void heal() { cutUntil_ = {}; }

 private:
  void begin(const std::vector<Mutation>& batch) override;
  bool mayTell() const override { return holdsLease(); }
  void processDied(const std::vector<Mutation>* batch) override;
  // `atEtcd` when the request arrives, and `answered` with what it gave. Either may be lost.
  template <typename Answer>
  void ask(std::function<Answer()> atEtcd, std::function<void(Answer)> answered);
  void askToLead();
  void lead(Term term, MonotonicTime asked);
  void renewAgainAndAgain();
  void extend(MonotonicTime asked);
  void endWithTheLease();
  void goOn();
  void put();
  void end();

  EtcdModel& etcd_;
  const MachineClock& clock_;
  std::function<void(MemoryStore&)> elected_;
  std::unique_ptr<MemoryStore> held_;  // EtcdBug::kStaleStandby: since it stands by
  uint64_t asking_ = 0;                // to lead: the latest counts
  Term term_ = 0;
  MonotonicTime deadline_{};
  uint64_t number_ = 0;  // of the last batch that this one knows of
  // The batch that is being put; it may arrive long after its process has died.
  std::shared_ptr<const std::vector<Mutation>> batch_;
  bool isEnding_ = false, isWatching_ = false;
  MonotonicTime cutUntil_{}, pausedUntil_{};
  std::vector<std::function<void()>> waiting_;  // that the process runs again
};

}  // namespace tarcil::sim
