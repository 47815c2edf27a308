// Whatever the order in which events come, no task is claimed twice at once, no job has more tasks on servers
// than it allows, and what the agent believes of the cluster ends as what the master knows.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "tests/agent/agent_harness.h"

namespace tarcil::interleavings_test {

using namespace std::chrono_literals;
using Outcome = agent::LaunchAnswered::Outcome;

class World {
 public:
  explicit World(uint64_t seed)
      : chance_(seed), h_({aServer("a").rus(3), aServer("b").rus(5), aServer("c").rus(2)}, {}, seed) {
    h_.attach(epoch_);
  }

  void step() {
    switch (chance_.below(10)) {
      case 0:
      case 1:
        return submit();
      case 2:
      case 3:
      case 4:
        return !h_.commits.empty() ? h_.takeCommit() : void();
      case 5:
        return endSomeTask();
      case 6:
        return answerSomeLaunch();
      case 7:
        return h_.pass(Duration(static_cast<int64_t>(chance_.below(2'000'000))));
      case 8:
        return h_.tellServer(static_cast<ServerId>(chance_.below(3)));
      default:
        return chance_.below(3) == 0 ? reconnect() : refuse();
    }
  }

  void checkInvariants() const {
    std::set<std::pair<JobId, TaskIndex>> claimed;
    for (const Commit& commit : h_.commits) {
      for (const Claim& claim : commit.claims) RC_ASSERT(claimed.emplace(commit.job, claim.task).second);
    }
    for (uint8_t job = 1; job < nextJob_; ++job) {
      if (h_.master.knows(jobId(job))) RC_ASSERT(h_.master.active(jobId(job)) <= 3u);
    }
  }

  // Everything on its way arrives, and every task that got a slot ends.
  void acknowledge() {
    for (int round = 0; round < 1'000 && h_.agent.load().jobs > 0; ++round) {
      h_.takeCommits();
      h_.tellServers();
      endAllTasks();
      h_.pass(1s);
    }
    h_.tellServers();
    RC_ASSERT(h_.agent.load().commits == 0u);
    RC_ASSERT(h_.agent.load().jobs == 0u);
    RC_ASSERT(h_.agent.load().waiting == 0u);
    RC_ASSERT(h_.agent.load().freeUnits == h_.master.freeUnits());
    RC_ASSERT(h_.master.freeUnits() == 10u);
    for (agent::RequestId request : requests_) RC_ASSERT(h_.answer(request).has_value());
  }

 private:
  void submit() {
    if (nextJob_ == 250) return;
    const bool repeat = nextJob_ > 1 && chance_.below(4) == 0;
    const uint8_t id = repeat ? static_cast<uint8_t>(1 + chance_.below(nextJob_ - 1u)) : nextJob_++;
    JobSpec spec = aJob(1 + id % 5u, causing({{Resource::kLlc, id % 3 * 20}}));
    spec.concurrency = 3;
    if (id % 7 == 0) spec.schedule = Schedule::kGang;
    requests_.push_back(h_.submit(spec, jobId(id)));
  }

  void endSomeTask() {
    if (nextJob_ == 1) return;
    const JobId id = jobId(static_cast<uint8_t>(1 + chance_.below(nextJob_ - 1u)));
    if (!h_.master.knows(id)) return;
    if (chance_.below(8) == 0) return tell(h_.master.cancel(id));
    for (TaskIndex task = 0; task < h_.master.tasks(id); ++task) {
      if (h_.master.task(id, task).state != RunState::kStarting) continue;
      const bool again = chance_.below(3) == 0;
      return tell(again ? h_.master.requeue(id, task, 500ms) : h_.master.end(id, task));
    }
  }

  void endAllTasks() {
    for (uint8_t job = 1; job < nextJob_; ++job) {
      const JobId id = jobId(job);
      for (TaskIndex task = 0; h_.master.knows(id) && task < h_.master.tasks(id); ++task) {
        if (h_.master.task(id, task).state == RunState::kStarting) h_.tell(h_.master.end(id, task));
      }
    }
  }

  void tell(const JobAssignment& news) {
    if (attached_) h_.tell(news);
  }

  void answerSomeLaunch() {
    if (h_.launches.empty()) return;
    const AllocationId allocation = h_.launches[chance_.below(h_.launches.size())].spec.allocation;
    h_.launchAnswered(allocation, chance_.below(2) == 0 ? Outcome::kAccepted : Outcome::kUnreachable);
  }

  // The link breaks: commits on their way reach the master or not, answers never come; the epoch may be new.
  void reconnect() {
    while (!h_.commits.empty() && chance_.below(2) == 0) {
      h_.master.take(h_.commits.front());
      h_.commits.pop_front();
    }
    h_.loseCommits();
    h_.loseMaster();
    attached_ = false;
    for (uint64_t ends = chance_.below(4); ends > 0; --ends) endSomeTask();
    attached_ = true;
    if (chance_.below(3) == 0) {
      ++epoch_;
      h_.master.startEpoch();
    }
    h_.attach(epoch_);
  }

  void refuse() { h_.master.refuseClaims(static_cast<int>(chance_.below(8))); }

  Rng chance_;
  AgentHarness h_;
  bool attached_ = true;
  uint64_t epoch_ = 1;
  uint8_t nextJob_ = 1;
  std::vector<agent::RequestId> requests_;
};

RC_GTEST_PROP(Interleavings, LeaveNothingBehindAndClaimNoTaskTwice, (uint64_t seed)) {
  World world(seed);
  for (int steps = 0; steps < 200; ++steps) {
    world.step();
    world.checkInvariants();
  }
  world.acknowledge();
}

}  // namespace tarcil::interleavings_test
