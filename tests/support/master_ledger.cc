#include "tests/support/master_ledger.h"

#include <algorithm>

#include "core/state/occupancy.h"
#include "tests/support/whole_store.h"

namespace tarcil {
namespace {

std::string text(AllocationId allocation) {
  return "allocation " + std::to_string(allocation);
}

// A server as its tasks make it, without share: the fake cluster sets none.
ServerStatus fromScratch(const ServerView& server) {
  std::vector<Resident> residents;
  for (const ServerView::Task& task : server.tasks) {
    residents.push_back(
        {task.allocation, task.rus, task.profile.caused, task.profile.tolerated, task.extras});
  }
  ServerStatus status = server.status;
  rebuild(status, residents, server.facts, fullShare());
  return status;
}

}  // namespace

std::vector<std::string> MasterLedger::noteAnswer(const std::string& agent, uint64_t epoch,
                                                  const Commit& commit, const CommitAnswer& answer) {
  std::vector<std::string> problems;
  const CommitKey key{agent, epoch, commit.sequence};
  CommitAnswer said = answer;
  said.servers.clear();
  const auto [first, isFirst] = answers_.emplace(key, said);
  if (!isFirst && first->second != said) {
    problems.push_back("commit " + std::to_string(commit.sequence) + " of " + agent +
                       " was answered differently");
  }
  for (size_t i = 0; i < answer.grants.size(); ++i) {
    const Grant& grant = answer.grants[i];
    if (grant.verdict != Verdict::kGranted) continue;
    const auto [giver, isNew] = grants_.emplace(grant.allocation, key);
    if (!isNew && giver->second != key) problems.push_back(text(grant.allocation) + " was given twice");
    AllocationId& latest = latest_[{commit.job, commit.claims[i].task}];
    latest = std::max(latest, grant.allocation);
  }
  return problems;
}

std::vector<std::string> MasterLedger::check(const MasterLogic& logic, Store& store) const {
  std::vector<std::string> problems;
  const WholeStore whole = wholeStore(store);
  for (const StoreProblem& problem : checkStore(whole)) problems.push_back(problem.key + ": " + problem.what);
  std::map<TaskKey, AllocationId> stored;
  for (const TaskRecord& task : whole.contents.tasks) stored[{task.job, task.index}] = task.allocation;
  for (const auto& [task, allocation] : latest_) {
    const auto found = stored.find(task);
    if (found == stored.end() || found->second < allocation)
      problems.push_back(text(allocation) + " was answered and is lost");
  }
  for (const ServerView& server : logic.servers()) {
    if (fromScratch(server) != server.status)
      problems.push_back("server " + server.facts.name + " is not what its tasks make it");
  }
  return problems;
}

}  // namespace tarcil
