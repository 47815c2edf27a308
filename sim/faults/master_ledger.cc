#include "sim/faults/master_ledger.h"

#include <algorithm>
#include <utility>

#include "core/state/occupancy.h"
#include "sim/faults/whole_store.h"

namespace tarcil::sim {
namespace {

std::string numbered(AllocationId allocation) {
  return "allocation " + std::to_string(allocation);
}

// Of what is not measured.
bool isChargedByItsProfile(const ServerView::Task& task) {
  for (size_t i = 0; i < kResources; ++i) {
    if (!task.measured[i] && task.charged[i] != task.profile.caused[i]) return false;
  }
  return true;
}

// A server as its tasks and the units that it lends make it.
ServerStatus fromScratch(const ServerView& server, const Share& share) {
  std::vector<Resident> residents;
  for (const ServerView::Task& task : server.tasks) {
    residents.push_back({.allocation = task.allocation,
                         .rus = task.rus,
                         .caused = task.charged,
                         .tolerated = task.profile.tolerated,
                         .extras = task.extras,
                         .request = task.request,
                         .isStrict = task.isStrict});
  }
  ServerStatus status = server.status;
  rebuild(status, residents, server.facts, share);
  for (const RuIndex ru : server.pool.first(server.pool.size())) status.free.erase(ru);
  status.allocated += claimed({}, server.pool.size(), byteSupplyOf(server.facts));
  return status;
}

}  // namespace

std::vector<std::string> serverProblems(const MasterLogic& logic) {
  std::vector<std::string> problems;
  std::map<std::string, Share> shares;
  for (const PlatformRecord& platform : logic.platforms()) shares[platform.name] = platform.share;
  for (const ServerView& server : logic.servers()) {
    const auto share = shares.find(server.facts.platform);
    for (const ServerView::Task& task : server.tasks) {
      if (!isChargedByItsProfile(task)) {
        problems.push_back(numbered(task.allocation) +
                           " is charged neither by its profile nor by measurement");
      }
    }
    if (fromScratch(server, share == shares.end() ? fullShare() : share->second) != server.status)
      problems.push_back("server " + server.facts.name + " is not what its tasks make it");
  }
  return problems;
}

std::vector<std::string> MasterLedger::noteAnswer(const std::string& agent, uint64_t epoch,
                                                  const Commit& commit, const CommitAnswer& answer) {
  std::vector<std::string> problems;
  const CommitKey key{agent, epoch, commit.sequence};
  uint64_t& taken = taken_[{agent, epoch}];
  if (commit.sequence <= taken) return problems;  // the agent has said that it has the answer
  for (uint64_t sequence = taken + 1; sequence <= commit.answered && sequence < commit.sequence; ++sequence) {
    answers_.erase({agent, epoch, sequence});
    taken = sequence;
  }
  CommitAnswer said = answer;
  said.servers.clear();
  const auto [first, isFirst] = answers_.emplace(key, said);
  if (!isFirst && first->second != said) {
    problems.push_back("commit " + std::to_string(commit.sequence) + " of " + agent +
                       " was answered differently");
  }
  const auto isGranted = [](const Grant& grant) { return grant.verdict == Verdict::kGranted; };
  const auto granted = static_cast<size_t>(std::ranges::count_if(answer.grants, isGranted));
  if (commit.gang && granted != 0 && granted != answer.grants.size()) {
    problems.push_back("of a gang, " + std::to_string(granted) + " of " +
                       std::to_string(answer.grants.size()) + " claims were granted");
  }
  for (size_t i = 0; i < answer.grants.size(); ++i) {
    const Grant& grant = answer.grants[i];
    if (!isGranted(grant)) continue;
    const auto [giver, isNew] = grants_.emplace(grant.allocation, key);
    if (!isNew && giver->second != key) problems.push_back(numbered(grant.allocation) + " was given twice");
    if (gone_.contains(commit.job)) continue;  // the answer is repeated from what is kept for that
    AllocationId& latest = latest_[{commit.job, commit.claims[i].task}];
    latest = std::max(latest, grant.allocation);
  }
  return problems;
}

void MasterLedger::forget(const JobId& job) {
  gone_.insert(job);
  latest_.erase(latest_.lower_bound({job, 0}), latest_.upper_bound({job, UINT32_MAX}));
}

std::vector<std::string> MasterLedger::check(const MasterLogic& logic, Store& store) const {
  std::vector<std::string> problems;
  const WholeStore whole = wholeStore(store);
  for (const StoreProblem& problem : checkStore(whole)) {
    // Servers come back with fewer units than their tasks hold.
    if (problem.what.ends_with("when the task was placed)")) continue;
    problems.push_back(problem.key + ": " + problem.what);
  }
  std::map<TaskKey, AllocationId> stored;
  for (const TaskRecord& task : whole.contents.tasks) stored[{task.job, task.index}] = task.allocation;
  for (const auto& [task, allocation] : latest_) {
    const auto found = stored.find(task);
    if (found == stored.end() || found->second < allocation)
      problems.push_back(numbered(allocation) + " was answered and is lost");
  }
  for (std::string& problem : serverProblems(logic)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace tarcil::sim
