#include "tests/torture/allocation_ledger.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tarcil::torture {
namespace {

std::string text(AllocationId id) {
  return "allocation " + std::to_string(id);
}

// When units were owned for certain, and by which allocation.
struct Ownership {
  EventNumber from = 0, to = 0;
  AllocationId owner = 0;
};

}  // namespace

std::string text(const TaskKey& task) {
  return "t/" + toString(task.first) + "/" + std::to_string(task.second);
}

// --- What is told -----------------------------------------------------------------------------------------

void AllocationLedger::grant(const SentCommit& commit) {
  const CommitAnswer& answer = *commit.answer;
  for (size_t i = 0; i < answer.grants.size() && i < commit.commit.claims.size(); ++i) {
    const Grant& grant = answer.grants[i];
    if (grant.verdict != Verdict::kGranted) continue;
    const auto before = highest_.lower_bound(commit.sent);
    if (before != highest_.begin() && std::prev(before)->second >= grant.allocation) {
      problems_.add(text(grant.allocation) + " was granted after allocation " +
                    std::to_string(std::prev(before)->second) + ": numbers rise");
    }
    const Claim& claim = commit.commit.claims[i];
    add(grant.allocation, {{commit.commit.job, claim.task}, claim.attempt, claim.server, grant.rus});
  }
}

void AllocationLedger::tell(const JobAssignment& job) {
  for (const TaskAssignment& task : job.tasks) {
    if (isActive(task.state))
      add(task.allocation, {{job.job.id, task.index}, task.attempt, task.server, task.rus});
  }
}

void AllocationLedger::add(AllocationId id, const Allocation& told) {
  Allocation& known = all_[id];
  if (known.told != kNoEvent) {
    if (known.task != told.task || known.attempt != told.attempt || known.server != told.server ||
        known.rus != told.rus) {
      problems_.add(text(id) + " of " + text(known.task) + " is now told as that of " + text(told.task) +
                    ", or with other units");
    }
    return;
  }
  const Allocation over = known;  // its end may have been heard of first
  known = told;
  known.told = problems_.now();
  known.mayEnd = over.mayEnd;
  known.ended = over.ended;
  const auto [first, isFirst] = byAttempt_.emplace(std::pair{told.task, told.attempt}, id);
  if (!isFirst) {
    problems_.add("attempt " + std::to_string(told.attempt) + " of " + text(told.task) +
                  " was placed twice: " + text(first->second) + " and " + text(id));
  }
  AllocationId& newest = newest_[told.task];
  newest = std::max(newest, id);
  const AllocationId highest = highest_.empty() ? 0 : highest_.rbegin()->second;
  if (id > highest) highest_[problems_.now()] = id;
  if (known.ended == kNoEvent) open_.insert(id);
}

// --- Ends -------------------------------------------------------------------------------------------------

void AllocationLedger::take(const ReportsSent& event) {
  for (const TaskReport& report : event.reports) {
    Allocation& allocation = all_[report.allocation];
    if (report.ended) {
      allocation.mayEnd = std::min(allocation.mayEnd, problems_.now());
    } else {
      allocation.startReported = true;
    }
  }
  reports_[event.call] = event.reports;
}

void AllocationLedger::take(const ReportsAnswered& event) {
  for (const TaskReport& report : reports_.at(event.call)) {
    Allocation& allocation = all_.at(report.allocation);
    if (report.ended) {
      allocation.ended = std::min(allocation.ended, problems_.now());
      open_.erase(report.allocation);
    } else {
      allocation.startTaken = true;
    }
  }
  reports_.erase(event.call);
}

void AllocationLedger::take(const MonitorAttaching& event, const std::map<std::string, ServerId>& servers) {
  std::set<ServerId> here;
  for (const ServerFacts& facts : event.servers) {
    if (const auto found = servers.find(facts.name); found != servers.end()) here.insert(found->second);
  }
  std::set<AllocationId> known;
  for (const KnownTask& task : event.tasks) known.insert(task.allocation);
  std::vector<AllocationId>& lost = losses_[event.call];
  for (AllocationId id : open_) {
    Allocation& allocation = all_.at(id);
    if (!here.contains(allocation.server) || known.contains(id) || !allocation.startReported) continue;
    allocation.mayEnd = std::min(allocation.mayEnd, problems_.now());
    if (allocation.startTaken) lost.push_back(id);
  }
}

void AllocationLedger::take(const MonitorAttached& event) {
  for (AllocationId id : losses_.at(event.call)) {
    Allocation& allocation = all_.at(id);
    allocation.ended = std::min(allocation.ended, problems_.now());
    open_.erase(id);
  }
  losses_.erase(event.call);
}

// --- Owners -----------------------------------------------------------------------------------------------

// An allocation was granted before any with a higher number was told of, and is not over before somebody
// asked for what ends it: in between its units are its own.
void AllocationLedger::checkOwners() {
  std::map<std::pair<ServerId, RuIndex>, std::vector<Ownership>> owners;
  EventNumber granted = kNoEvent;
  for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
    const Allocation& allocation = it->second;
    if (allocation.told == kNoEvent) continue;
    granted = std::min(granted, allocation.told);
    if (granted >= allocation.mayEnd) continue;
    for (RuIndex ru : allocation.rus)
      owners[{allocation.server, ru}].push_back({granted, allocation.mayEnd, it->first});
  }
  for (auto& [unit, list] : owners) {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return std::tie(a.from, a.owner) < std::tie(b.from, b.owner);
    });
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].from >= list[i - 1].to) continue;
      problems_.at(list[i].from);
      problems_.add("unit " + std::to_string(unit.second) + " of server " + std::to_string(unit.first) +
                    " has two owners: " + text(list[i - 1].owner) + " and " + text(list[i].owner));
    }
  }
}

}  // namespace tarcil::torture
