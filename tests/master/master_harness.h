// A MasterLogic on a store in memory and a clock moved by hand, with words for what peers send it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/logic/master_logic.h"
#include "master/store/memory_store.h"

namespace tarcil {

// The actions of one kind, in order.
template <typename T>
std::vector<T> only(const std::vector<master::Action>& actions) {
  std::vector<T> found;
  for (const master::Action& action : actions) {
    if (const T* match = std::get_if<T>(&action)) found.push_back(*match);
  }
  return found;
}

// The wall clock of a harness at its begin.
inline constexpr WallTime kHarnessBegins{std::chrono::hours(24 * 365 * 50)};

// --- Values ---
JobId jobId(int number);
ServerFacts serverFacts(const std::string& name, uint32_t rus, const std::string& platform = "p");
// One resource pressed by this much, and tolerance of everything.
Profile causing(Resource resource, uint8_t pressure);
JobSpec spec(uint32_t tasks = 1, uint32_t rusPerTask = 1);
// A job's first commit, by alice, without claims.
Commit newJob(int number, const JobSpec& spec);
// A commit for a job that is there.
Commit moreFor(int number);
// A claim at attempt 0 that no other resident stands against.
Claim claim(TaskIndex task, ServerId server, uint32_t rus = 1);
Caller user(const std::string& name);
Caller theOperator();
TaskEnd exitedWith(int code);

class MasterHarness {
 public:
  // A cluster without a margin: with one, a second job that waits wakes the first (core/decide/margin.h).
  explicit MasterHarness(MasterOptions options = {});

  MasterLogic& logic() { return *logic_; }
  MemoryStore& store() { return store_; }
  Now now() const { return now_; }

  // Carries one event out: what it persists is stored, the rest is returned. Fails the test if something
  // leaves before it could be durable.
  std::vector<master::Action> handle(const master::Event& event);
  // The process dies with everything that was not stored, and a new one starts.
  void restart();
  // The process dies while it handles the event: before anything of it is stored, or before anything is
  // let out.
  void dieBeforeStoring(const master::Event& event);
  // Returns what nobody has heard.
  std::vector<master::Action> dieBeforeAnswering(const master::Event& event);
  // How often a timer was asked for since the start of the process.
  size_t wakesAsked() const { return wakesAsked_; }
  // Time passes; timers that were asked for fire.
  std::vector<master::Action> pass(Duration duration);

  // Time passes without anybody noticing.
  void skip(Duration duration);
  // Somebody sets the machine's clock.
  void setWallClock(WallTime time) { now_.wall = time; }
  // The timer that was asked for last fires, whatever the time. Nothing where none was.
  std::vector<master::Action> fireTimer();

  // --- Peers; each call is a new session, returned ---
  SessionId attachAgent(const std::string& name, uint64_t epoch = 0);
  SessionId attachMonitor(const std::string& monitor, std::vector<ServerFacts> servers,
                          std::vector<KnownTask> tasks = {});
  // More servers of an attached monitor; its answer is then monitorAnswer().
  void attachMore(SessionId session, std::vector<ServerFacts> servers, std::vector<KnownTask> tasks = {});
  std::vector<master::Action> detach(SessionId session);
  const master::AnswerAgentAttached& agentAnswer() const { return agentAnswer_; }
  const master::AnswerMonitorAttached& monitorAnswer() const { return monitorAnswer_; }
  // What the last attach led to besides its answer.
  const std::vector<master::Action>& lastActions() const { return lastActions_; }

  // What agents were told of the queue last.
  const master::PublishQueue& queueTold() const { return queueTold_; }

  // Gives the commit the session's next sequence, and the newest queue news.
  CommitAnswer commit(SessionId agent, Commit commit);
  // Sends the commit as it is.
  CommitAnswer resend(SessionId agent, const Commit& commit);
  // The allocation of a commit that must be granted in full, of its first claim.
  AllocationId place(SessionId agent, Commit commit);

  std::vector<master::Action> started(SessionId monitor, AllocationId allocation);
  // `reached`: TaskReport::reached.
  std::vector<master::Action> ended(SessionId monitor, AllocationId allocation, const TaskEnd& end,
                                    std::optional<double> reached = std::nullopt);
  std::vector<master::Action> cancel(int job, const Caller& caller);
  // By the operator; fails the test where it is refused.
  std::vector<master::Action> change(master::PeopleChange change);
  // By the operator; fails the test where it is refused.
  std::vector<master::Action> steer(const std::string& server, master::ServerChange change,
                                    Duration deadline = {});

  JobDetails job(int number) { return *logic_->job(jobId(number)); }
  TaskRecord task(int number, TaskIndex index) { return job(number).tasks[index]; }
  RunState stateOf(int number) { return job(number).progress.state; }
  ServerStatus status(const std::string& server) { return logic_->server(server)->status; }
  uint32_t freeUnits(const std::string& server) { return status(server).free.size(); }

 private:
  void start();
  // Stores what is to be stored, notes the timer, returns the rest.
  std::vector<master::Action> carryOut(std::vector<master::Action> actions);

  const MasterOptions options_;
  MemoryStore store_;
  Rng rng_{1};
  Now now_{MonotonicTime(std::chrono::hours(1)), kHarnessBegins};
  std::unique_ptr<MasterLogic> logic_;
  std::optional<MonotonicTime> wakeAt_;
  size_t wakesAsked_ = 0;
  SessionId nextSession_ = 1;
  RequestId nextRequest_ = 1;
  std::map<SessionId, uint64_t> sequences_;
  master::PublishQueue queueTold_;                  // last
  std::map<std::string, SessionId> lastSessionOf_;  // of agents
  master::AnswerAgentAttached agentAnswer_{0, uint64_t{0}};
  master::AnswerMonitorAttached monitorAnswer_;
  std::vector<master::Action> lastActions_;
};

}  // namespace tarcil
