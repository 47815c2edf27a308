// Holds a history, and the store that is left at its end, against what a master promises (docs/protocol.md).
// Knows nothing but what was asked, answered and stored, and shares no code with what decides in the master.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/torture/store_rules.h"

namespace tarcil::torture {

// What a history is made of.
struct Tally {
  uint64_t kills = 0;    // of the master
  uint64_t commits = 0;  // sent
  uint64_t answers = 0;  // to them
  uint64_t granted = 0;  // claims
  uint64_t refused = 0;
  uint64_t attached = 0;  // agents
  uint64_t reports = 0;   // taken
};

class Checker final {
 public:
  Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // The events in order. Throws std::out_of_range for an answer to a call that was not noted.
  void take(const Event& event);

  // After the last one; once. Everything that is wrong, each naming its event or the store.
  std::vector<std::string> finish(const WholeStore& store);

  const Tally& tally() const { return tally_; }

 private:
  void note(const Begun& event) { keepFinished_ = event.keepFinished; }
  void note(const MasterStarted&) {}
  void note(const MasterKilled&) { ++tally_.kills; }
  void note(const AgentAttaching& event);
  void note(const AgentAttached& event);
  void note(const CommitSent& event);
  void note(const CommitAnswered& event);
  void note(const News& event);
  void note(const MonitorAttaching& event) { allocations_.take(event, states_.numbers()); }
  void note(const MonitorAttached& event) { allocations_.take(event); }
  void note(const ReportsSent& event) { allocations_.take(event); }
  void note(const ReportsAnswered& event);
  void note(const StopOrdered&) {}
  void note(const CancelSent& event) { cancelling_[event.call] = event.job; }
  void note(const CancelAnswered& event) { cancelled_.insert(cancelling_.at(event.call)); }
  void note(const Settled&) { states_.settled(); }

  Problems problems_;
  EventNumber events_ = 0;
  Tally tally_;
  CommitLedger commits_{problems_};
  AllocationLedger allocations_{problems_};
  StateLedger states_{problems_};
  std::map<CallId, JobId> cancelling_;
  std::set<JobId> cancelled_;
  uint64_t keepFinished_ = 0;
};

}  // namespace tarcil::torture
