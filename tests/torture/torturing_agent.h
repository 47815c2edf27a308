// An agent that decides nothing and keeps no promise but those of the protocol: it commits at random,
// repeats, skips sequences, comes back with epochs of others, and has rivals of its own name.
#pragma once

#include <kj/async.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schema/master.capnp.h"
#include "tests/torture/master_link.h"
#include "tests/torture/work.h"

namespace tarcil::torture {

class TorturingAgent final : private kj::TaskSet::ErrorHandler {
 public:
  TorturingAgent(Stage& stage, std::string name);
  ~TorturingAgent() noexcept;

  // Attached with the whole state, nothing without an answer, all launches made.
  bool quiet() const;
  // Attaches anew, with its epoch.
  void attachAnew() { link_.cut(); }

 private:
  class Feed;
  class Rival;
  struct HeldTask {
    uint32_t attempt = 0;
    bool waiting = true;
  };
  struct HeldJob {
    JobSpec spec;
    std::vector<HeldTask> tasks;
  };

  kj::Promise<void> attach(MasterLink::Login&& login);
  void attached(uint64_t epoch, const std::vector<JobAssignment>& jobs);
  void logInUsers();
  void takeNews(const News& news, bool complete);
  void takeJobs(const std::vector<JobAssignment>& jobs);
  void takeServers(const std::vector<ServerUpdate>& servers);
  void launch(AllocationId allocation, ServerId server);
  void launchWhatCanBe();

  // Acts at random, for ever.
  kj::Promise<void> live();
  void act();
  void disturbLink();
  void commitNewJob();
  void commitHeldJob();
  void commitForeignJob();
  void repeatSomething();
  void skipSequences();

  void commit(Commit commit);
  // A commit beyond the next sequence is refused, which says nothing about the one that comes there later.
  enum class Answer { kApplies, kOfNoUse };
  void send(const Commit& commit, Answer use = Answer::kApplies);
  void answered(LinkId link, const CommitAnswer& answer);
  void apply(const Commit& commit, const CommitAnswer& answer);

  void taskFailed(kj::Exception&& exception) override;

  Stage& stage_;
  const std::string name_;
  uint64_t epoch_ = 0;     // 0: a new process
  uint64_t sequence_ = 0;  // of the last commit
  std::map<uint64_t, Commit> unanswered_;
  std::deque<Commit> recent_;  // commits of this epoch, to be repeated
  std::map<JobId, HeldJob> jobs_;
  SeenServers servers_;
  std::vector<std::pair<AllocationId, ServerId>> launches_;  // to servers whose names are not known yet
  LinkId currentLink_ = 0;
  bool seesAll_ = false;  // on the current link
  size_t calls_ = 0;      // under way
  kj::Maybe<wire::AgentPort::Client> port_;
  std::unique_ptr<Rival> rival_;
  MasterLink link_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil::torture
