// The allocations of a history: who was told to have which units, and from when to when that certainly held.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/torture/commit_ledger.h"

namespace tarcil::torture {

using TaskKey = std::pair<JobId, TaskIndex>;

struct Allocation {
  TaskKey task;
  uint32_t attempt = 0;
  ServerId server = 0;
  std::vector<RuIndex> rus;
  EventNumber told = kNoEvent;  // kNoEvent: only its end is known
  // It is over at mayEnd at the earliest (somebody asked for what ends it), and at `ended` for certain.
  EventNumber mayEnd = kNoEvent, ended = kNoEvent;
  bool startReported = false, startTaken = false;

  // Somebody holds its units, for all that is known.
  bool isAlive() const { return told != kNoEvent && mayEnd == kNoEvent; }
};

// Problems: an allocation that is given twice, or to one attempt of a task beside another; numbers that do
// not rise; units that two own at the same time.
class AllocationLedger final {
 public:
  explicit AllocationLedger(Problems& problems) : problems_(problems) {}

  // `commit` has just got its first answer.
  void grant(const SentCommit& commit);
  // The master has told an agent what it holds.
  void tell(const JobAssignment& job);
  void take(const ReportsSent& event);
  void take(const ReportsAnswered& event);
  // A server that comes back without a task that ran there has lost it.
  void take(const MonitorAttaching& event, const std::map<std::string, ServerId>& servers);
  void take(const MonitorAttached& event);

  // After the last event.
  void checkOwners();

  const std::map<AllocationId, Allocation>& all() const { return all_; }
  // The newest that a task was told to have.
  const std::map<TaskKey, AllocationId>& newest() const { return newest_; }

 private:
  void add(AllocationId id, const Allocation& allocation);

  Problems& problems_;
  std::map<AllocationId, Allocation> all_;
  std::set<AllocationId> open_;  // told, and not over for certain
  std::map<std::pair<TaskKey, uint32_t>, AllocationId> byAttempt_;
  std::map<TaskKey, AllocationId> newest_;
  std::map<EventNumber, AllocationId> highest_;  // told up to this event
  std::map<CallId, std::vector<TaskReport>> reports_;
  std::map<CallId, std::vector<AllocationId>> losses_;
};

// "t/<job>/3", as the store's keys are shown.
std::string text(const TaskKey& task);

}  // namespace tarcil::torture
