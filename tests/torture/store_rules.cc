#include "tests/torture/store_rules.h"

#include <algorithm>
#include <map>
#include <set>

namespace tarcil::torture {
namespace {

using Outcome = CommitAnswer::Outcome;

std::string text(AllocationId id) {
  return "allocation " + std::to_string(id);
}

bool isActive(const TaskRecord& task) {
  return task.state == RunState::kStarting || task.state == RunState::kRunning;
}

class Rules final {
 public:
  Rules(const Ledgers& ledgers, const WholeStore& store, Problems& problems)
      : ledgers_(ledgers), store_(store), contents_(store.contents), problems_(problems) {
    for (const JobRecord& job : contents_.jobs) jobs_.emplace(job.id, &job);
    for (const JobProgress& progress : contents_.progress) progress_.emplace(progress.id, &progress);
    for (const TaskRecord& task : contents_.tasks) tasks_.emplace(TaskKey{task.job, task.index}, &task);
    for (const auto& [key, sent] : ledgers_.commits.commits()) {
      if (sent.answer) continue;
      for (const Claim& claim : sent.commit.claims) unanswered_.emplace(sent.commit.job, claim.task);
      if (sent.commit.newJob) ++unansweredJobs_;
    }
  }

  void check() {
    checkJobs();
    checkGrants();
    checkTasks();
    checkCancels();
    checkAnswers();
    checkCounters();
    checkUsage();
    checkStates();
  }

 private:
  const JobRecord* job(const JobId& id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
  }

  bool isFinished(const JobId& id) const {
    const auto found = progress_.find(id);
    return found != progress_.end() && isFinal(found->second->state);
  }

  // Finished jobs go when there are more than the master keeps; nothing else does.
  void checkJobs() {
    const auto finished = static_cast<uint64_t>(
        std::count_if(jobs_.begin(), jobs_.end(), [this](const auto& job) { return isFinished(job.first); }));
    for (const JobId& id : ledgers_.commits.made()) {
      if (job(id) == nullptr && finished < ledgers_.keepFinished)
        problems_.add("job " + toString(id) + " was answered as made, and is lost");
    }
    std::set<JobId> files;
    for (const WholeStore::Piece& piece : store_.files) files.insert(piece.job);
    for (JobRecord record : contents_.jobs) {
      record.number = 0;  // the master's; no two have one by what holds in every store
      const auto submissions = ledgers_.commits.submissions(record.id);
      const bool isAsSubmitted = std::any_of(submissions.begin(), submissions.end(),
                                             [&record](const JobRecord* s) { return *s == record; });
      if (!isAsSubmitted) problems_.add("job " + toString(record.id) + " is not what anybody submitted");
      if (!isFinished(record.id) && record.hasFiles != files.contains(record.id))
        problems_.add("job " + toString(record.id) + ": its files are lost");
    }
  }

  // What a task was told to have it still has, unless it is over.
  void checkGrants() {
    for (const auto& [key, id] : ledgers_.allocations.newest()) {
      const Allocation& allocation = ledgers_.allocations.all().at(id);
      const auto found = tasks_.find(key);
      if (found == tasks_.end() || found->second->allocation < id) {
        const bool wasErased = job(key.first) == nullptr && !allocation.isAlive();
        if (!wasErased) problems_.add(text(id) + " of " + torture::text(key) + " was answered, and is lost");
        continue;
      }
      const TaskRecord& task = *found->second;
      if (task.allocation != id) {
        checkUntold(task);
      } else if (isActive(task)) {
        checkPlace(task, allocation);
      } else if (allocation.isAlive()) {
        problems_.add(text(id) + " of " + torture::text(key) + " is over, and nobody ended it");
      }
    }
  }

  void checkPlace(const TaskRecord& task, const Allocation& allocation) {
    const std::string what = text(task.allocation) + " of " + torture::text(allocation.task);
    if (allocation.ended != kNoEvent)
      problems_.add(what + " has ended, which was answered, and still has units");
    const auto facts = ledgers_.states.facts().find(allocation.server);
    const bool isThere = facts != ledgers_.states.facts().end() && facts->second.name == task.server;
    if (!isThere || task.rus != allocation.rus || task.attempt != allocation.attempt)
      problems_.add(what + " is not on the units that were answered");
  }

  // A task that was placed without anybody having been told: by a commit whose answer was lost.
  void checkUntold(const TaskRecord& task) {
    const TaskKey key{task.job, task.index};
    if (!unanswered_.contains(key))
      problems_.add(torture::text(key) + " has " + text(task.allocation) + ", which nobody was granted");
  }

  void checkTasks() {
    std::map<std::pair<std::string, RuIndex>, AllocationId> owners;
    std::set<AllocationId> seen;
    for (const TaskRecord& task : contents_.tasks) {
      const TaskKey key{task.job, task.index};
      if (task.allocation == 0) continue;
      if (!ledgers_.allocations.newest().contains(key)) checkUntold(task);
      if (!seen.insert(task.allocation).second)
        problems_.add(text(task.allocation) + " is that of two tasks");
      if (!isActive(task)) continue;
      for (RuIndex ru : task.rus) {
        const auto [owner, isFree] = owners.emplace(std::pair{task.server, ru}, task.allocation);
        if (!isFree) {
          problems_.add("unit " + std::to_string(ru) + " of " + task.server +
                        " has two owners: " + text(owner->second) + " and " + text(task.allocation));
        }
      }
    }
  }

  void checkCancels() {
    for (const JobId& id : ledgers_.cancelled) {
      const JobRecord* record = job(id);
      const auto progress = progress_.find(id);
      if (record == nullptr || progress == progress_.end() || isFinal(progress->second->state)) continue;
      const auto isSettled = [this, &id](TaskIndex index) {
        const auto task = tasks_.find({id, index});
        return task != tasks_.end() && task->second->state != RunState::kQueued;
      };
      bool stands = progress->second->cancelRequested;
      for (TaskIndex index = 0; index < record->spec.tasks; ++index) stands = stands && isSettled(index);
      if (!stands) problems_.add("the cancel of job " + toString(id) + " was answered, and is lost");
    }
  }

  // The answers that an agent may still ask for are there, as they were given.
  void checkAnswers() {
    const auto& commits = ledgers_.commits.commits();
    std::map<std::string, uint64_t> epochs;
    for (const AgentRecord& agent : contents_.agents) epochs[agent.name] = agent.epoch;
    for (const auto& [agent, epoch] : ledgers_.commits.epochs()) {
      if (epochs[agent] < epoch)
        problems_.add(agent + " was given epoch " + std::to_string(epoch) + ", which is lost");
    }
    std::set<CommitKey> stored;
    for (const AnswerRecord& record : contents_.answers) {
      const CommitKey key{record.agent, record.epoch, record.answer.sequence};
      stored.insert(key);
      const auto sent = commits.find(key);
      if (sent == commits.end()) {
        problems_.add(torture::text(key) + " has an answer, and was never sent");
      } else if (sent->second.answer && *sent->second.answer != record.answer) {
        problems_.add(torture::text(key) + ": another answer is stored than was given");
      }
    }
    for (const auto& [key, sent] : commits) {
      const auto& [agent, epoch, sequence] = key;
      const bool mayBeRepeated =
          epochs[agent] == epoch && sequence > ledgers_.commits.acknowledged(agent, epoch);
      if (sent.answer && mayBeRepeated && !stored.contains(key))
        problems_.add(torture::text(key) + ": its answer is lost; a repeat would be taken for a new commit");
    }
  }

  void checkCounters() {
    const auto& all = ledgers_.allocations.all();
    const AllocationId next = contents_.cluster ? contents_.cluster->nextAllocation : 0;
    const auto highest = std::find_if(all.rbegin(), all.rend(),
                                      [](const auto& entry) { return entry.second.told != kNoEvent; });
    if (highest != all.rend() && highest->first >= next) {
      problems_.add("the next allocation is " + std::to_string(next) + ", and " + text(highest->first) +
                    " has been given out");
    }
    std::set<std::string> servers;
    for (const ServerRecord& server : contents_.servers) servers.insert(server.facts.name);
    for (const auto& [id, facts] : ledgers_.states.facts()) {
      if (!servers.contains(facts.name)) problems_.add("server " + facts.name + " is lost");
    }
  }

  // Each end counts once.
  void checkUsage() {
    uint64_t attempts = 0, jobs = 0;
    for (const Usage& usage : contents_.usage) {
      attempts += usage.attempts;
      jobs += usage.done + usage.failed + usage.cancelled + usage.lost;
    }
    uint64_t certain = 0, possible = unanswered_.size();
    for (const auto& [id, allocation] : ledgers_.allocations.all()) {
      if (allocation.told != kNoEvent && allocation.ended != kNoEvent) ++certain;
      if (allocation.mayEnd != kNoEvent) ++possible;
    }
    if (attempts < certain || attempts > possible) {
      problems_.add(std::to_string(attempts) + " attempts are counted, of " + std::to_string(certain) +
                    " to " + std::to_string(possible) + " that ended");
    }
    const auto over = static_cast<uint64_t>(
        std::count_if(ledgers_.commits.made().begin(), ledgers_.commits.made().end(),
                      [this](const JobId& id) { return job(id) == nullptr || isFinished(id); }));
    if (jobs < over || jobs > over + unansweredJobs_) {
      problems_.add(std::to_string(jobs) + " jobs are counted as over, of " + std::to_string(over) + " to " +
                    std::to_string(over + unansweredJobs_));
    }
  }

  // --- Last states ----------------------------------------------------------------------------------------

  // What the tasks of the store make of each server.
  struct Expected {
    RuSet free;
    PressureSum sum{};
    PressureSum bound{};
  };

  std::map<std::string, Expected> expectedStates() const {
    std::map<std::string, Expected> expected;
    for (const ServerRecord& server : contents_.servers) {
      expected[server.facts.name].free = RuSet::all(server.facts.rus);
      expected[server.facts.name].bound = ServerStatus{}.bound;
    }
    for (const TaskRecord& task : contents_.tasks) {
      const JobRecord* record = job(task.job);
      if (!isActive(task) || record == nullptr) continue;
      Expected& server = expected[task.server];
      for (RuIndex ru : task.rus) server.free.erase(ru);
      const Profile& profile = record->spec.profile;
      for (size_t i = 0; i < server.sum.size(); ++i) {
        server.sum[i] += profile.caused[i];
        // A task that tolerates everything sets no bound (docs/design.md).
        if (profile.tolerated[i] != kMaxPressure)
          server.bound[i] = std::min(server.bound[i], profile.caused[i] + profile.tolerated[i]);
      }
    }
    return expected;
  }

  void checkStates() {
    const std::map<std::string, Expected> expected = expectedStates();
    for (const auto& [link, states] : ledgers_.states.last()) {
      if (states.size() != contents_.servers.size())
        problems_.add("link " + std::to_string(link) + " was told " + std::to_string(states.size()) + " of " +
                      std::to_string(contents_.servers.size()) + " servers");
      for (const auto& [id, status] : states) {
        const auto facts = ledgers_.states.facts().find(id);
        const auto found =
            facts == ledgers_.states.facts().end() ? expected.end() : expected.find(facts->second.name);
        if (found == expected.end()) continue;
        const std::string what = "link " + std::to_string(link) + " was told of " + found->first + ": ";
        if (!(status.free == found->second.free)) problems_.add(what + "other free units than the store has");
        if (status.sum != found->second.sum) problems_.add(what + "another sum than its tasks make");
        if (status.bound != found->second.bound) problems_.add(what + "another bound than its tasks make");
      }
    }
  }

  const Ledgers& ledgers_;
  const WholeStore& store_;
  const StoreContents& contents_;
  Problems& problems_;
  std::map<JobId, const JobRecord*> jobs_;
  std::map<JobId, const JobProgress*> progress_;
  std::map<TaskKey, const TaskRecord*> tasks_;
  std::set<TaskKey> unanswered_;  // claimed for by commits that may have been taken
  uint64_t unansweredJobs_ = 0;
};

}  // namespace

void checkStoreAgainst(const Ledgers& ledgers, const WholeStore& store, Problems& problems) {
  problems.at(0);
  Rules(ledgers, store, problems).check();
}

}  // namespace tarcil::torture
