// A master for tests of the agent: one table of servers and jobs, told from outside what to refuse and
// what ends.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/state/commit.h"
#include "core/state/state_checksum.h"
#include "tests/support/builders.h"

namespace tarcil {

class FakeMaster {
 public:
  explicit FakeMaster(const std::vector<ServerBuilder>& servers);

  // Takes a commit as the real one does: grants what checkClaim() lets pass, all or nothing for gangs; a
  // repeat gets the first answer, or kJobOver where the job has ended since; a known job gets kJobExists.
  CommitAnswer take(const Commit& commit);

  // Refuses the next so many claims as no longer free.
  void refuseClaims(int count) { refusals_ = count; }
  // Answers the next commit with this outcome.
  void refuseCommit(std::string problem, CommitAnswer::Outcome outcome = CommitAnswer::Outcome::kRefused) {
    refusedBecause_ = std::move(problem);
    refusedAs_ = outcome;
  }
  // The agent's commits so far are void, unless they have been taken.
  void startEpoch() { answers_.clear(); }

  // The task's attempt is over: its units are free, and it is queued again with this delay or is done.
  JobAssignment end(const JobId& job, TaskIndex task);
  JobAssignment requeue(const JobId& job, TaskIndex task, Duration delay);
  JobAssignment run(const JobId& job, TaskIndex task);
  // The whole job is cancelled.
  JobAssignment cancel(const JobId& job);
  // A job of another agent that now goes to this one, with these tasks.
  JobAssignment handOver(const JobRecord& record, std::vector<TaskAssignment> tasks);

  // Another user of the cluster takes or gives back units of a server.
  void occupyElsewhere(ServerId server, const Profile& profile, uint32_t units);
  void leaveElsewhere(ServerId server);

  // What a feed brings.
  std::vector<ServerUpdate> snapshot() const;
  ServerUpdate update(ServerId server) const;
  StateChecksum checksum() const;
  // Unfinished ones with queued tasks, by priority and age.
  std::vector<JobId> waitingJobs() const;
  std::vector<JobAssignment> unfinishedJobs() const;
  // To be changed before the agent is told.
  ServerFacts& facts(ServerId server) { return servers_[server].facts; }

  bool knows(const JobId& job) const { return jobs_.contains(job); }
  TaskIndex tasks(const JobId& job) const { return static_cast<TaskIndex>(jobs_.at(job).tasks.size()); }
  const TaskAssignment& task(const JobId& job, TaskIndex index) const {
    return jobs_.at(job).tasks.at(index);
  }
  // What the master was told last about why the job waits.
  const std::string& reason(const JobId& job) const { return jobs_.at(job).reason; }
  uint64_t freeUnits() const;
  size_t active(const JobId& job) const;

 private:
  struct Server {
    ServerFacts facts;
    ServerStatus status;
    std::vector<Resident> residents;
  };
  struct Job {
    JobRecord record;
    std::vector<TaskAssignment> tasks;
    std::string reason;
    bool over = false;
  };

  Grant check(const Claim& claim, const Commit& commit);
  void grant(Job& job, const Claim& claim, Grant& grant);
  void release(TaskAssignment& task);
  JobAssignment news(const Job& job, TaskIndex index) const;

  std::vector<Server> servers_;
  std::map<JobId, Job> jobs_;
  std::map<uint64_t, CommitAnswer> answers_;
  AllocationId nextAllocation_ = 1'000;
  int refusals_ = 0;
  std::string refusedBecause_;
  CommitAnswer::Outcome refusedAs_ = CommitAnswer::Outcome::kRefused;
};

}  // namespace tarcil
