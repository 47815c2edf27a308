// The commits of a history: who sent which under what identity, and what was answered to it first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/torture/history.h"
#include "tests/torture/problems.h"

namespace tarcil::torture {

using CommitKey = std::tuple<std::string, uint64_t, uint64_t>;  // agent, epoch, sequence

struct SentCommit {
  Commit commit;
  EventNumber sent = 0;  // for the first time
  std::optional<CommitAnswer>
      answer;  // the first, without states of servers; none: taken or not, nobody was told
};

// Problems: a repeat that is answered differently, an epoch that is given twice or comes back, a connection
// that was replaced and still commits, a sequence that was skipped to, a gang granted in part, a grant that
// is not what was claimed, a job that is made twice.
class CommitLedger final {
 public:
  explicit CommitLedger(Problems& problems) : problems_(problems) {}

  void take(const AgentAttaching& event);
  void take(const AgentAttached& event);
  void take(const CommitSent& event);
  // The commit, where this is the first word on it; else null.
  const SentCommit* take(const CommitAnswered& event);

  const std::map<CommitKey, SentCommit>& commits() const { return commits_; }
  // The highest epoch that the agent was told.
  std::map<std::string, uint64_t> epochs() const;
  // Up to which sequence the agent has said to have answers.
  uint64_t acknowledged(const std::string& agent, uint64_t epoch) const;
  // As the commits have it that may have made the job; empty for a job that nobody submitted.
  std::vector<const JobRecord*> submissions(const JobId& job) const;
  // Jobs that were answered as made.
  const std::set<JobId>& made() const { return made_; }

 private:
  struct Link {
    std::string agent;
    uint64_t epoch = 0;
    EventNumber attaching = 0, attached = kNoEvent;
  };
  struct Agent {
    uint64_t highestEpoch = 0;     // told
    std::set<uint64_t> newEpochs;  // told as an answer to another one
    std::vector<LinkId> links;     // all that asked to attach
    LinkId newestAttached = 0;     // of those that were answered, the last that had asked
  };
  struct Epoch {
    uint64_t lastSent = 0;  // without gaps
    uint64_t acknowledged = 0;
  };
  struct AttachCall {
    LinkId link = 0;
    uint64_t asked = 0;
    uint64_t highestEpoch = 0;  // told before
  };
  struct CommitCall {
    CommitKey key;
    bool skips = false;     // earlier sequences have not been sent
    bool replaced = false;  // another connection spoke for the agent when it was sent
    LinkId link = 0;
  };

  bool isReplaced(const Link& link) const;
  bool mayBeReplaced(LinkId link) const;
  void checkForm(const Commit& commit, const CommitAnswer& answer);
  void checkRepeat(const SentCommit& sent, const CommitCall& call, const CommitAnswer& answer);
  void noteJob(const CommitKey& key, const Commit& commit, const CommitAnswer& answer);

  Problems& problems_;
  std::map<LinkId, Link> links_;
  std::map<std::string, Agent> agents_;
  std::map<std::pair<std::string, uint64_t>, Epoch> epochs_;
  std::map<CallId, AttachCall> attaching_;
  std::map<CallId, CommitCall> calls_;
  std::map<CommitKey, SentCommit> commits_;
  std::map<JobId, std::vector<CommitKey>> submissions_;
  std::set<JobId> made_;
};

// "commit 3 of agent-1, epoch 7"
std::string text(const CommitKey& key);

}  // namespace tarcil::torture
