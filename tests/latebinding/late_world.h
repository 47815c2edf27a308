// Agents, monitors and clients of late binding on a virtual clock, with links that lose, repeat and delay,
// and processes that stop or die.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "core/base/rng.h"
#include "latebinding/client_session.h"
#include "latebinding/job_scheduler.h"
#include "latebinding/reservation_queue.h"

namespace tarcil::late {

struct WorldOptions {
  uint32_t servers = 6, slots = 2, agents = 2, clients = 0;
  // Of each message between agents and monitors.
  Duration leastDelay = std::chrono::microseconds(500), mostDelay = std::chrono::microseconds(500);
  double loss = 0, repeat = 0;  // chances
  // A session that is over is noticed within this time, by each side for itself.
  Duration noticing = std::chrono::milliseconds(20);
  SchedulerOptions scheduler{};
  QueueOptions queue{};
  ClientOptions client{};
  uint64_t seed = 1;
};

// One task of one job, as whoever submitted it knows it: `owner` is a client, or an agent for jobs that were
// given to it directly.
struct TaskKey {
  uint32_t owner = 0;
  uint64_t job = 0;
  TaskIndex task = 0;
  auto operator<=>(const TaskKey&) const = default;
};

class LateWorld {
 public:
  using Durations = std::function<Duration(TaskIndex)>;

  explicit LateWorld(const WorldOptions& options);

  MonotonicTime now() const { return now_; }
  Rng& rng() { return rng_; }
  void at(MonotonicTime time, std::function<void()> what) {
    events_.push({time, ++sequence_, std::move(what)});
  }
  void after(Duration pause, std::function<void()> what) { at(now_ + pause, std::move(what)); }
  void run(Duration duration);

  // --- Work
  // Straight to an agent. `over` hears of its tasks.
  JobNumber submit(uint32_t agent, LateJob job, Durations durations);
  void cancel(uint32_t agent, JobNumber job);
  // Through a client; jobs of one client count from 1.
  ClientJob submitByClient(uint32_t client, uint32_t tasks, OnFailure onFailure, Durations durations);

  // --- Faults
  void killServer(ServerId server, Duration away);  // with all that runs on it
  void killAgent(uint32_t agent, Duration away);
  void stopAgent(uint32_t agent, Duration pause);  // as SIGSTOP
  void cutLink(uint32_t agent, ServerId server, Duration away);

  // --- What came of it
  struct Over {
    MonotonicTime at{};
    Outcome outcome = Outcome::kDone;
    uint32_t times = 0;  // how often its owner was told
    Phases phases{};     // direct jobs only
    ServerId server = 0;
  };
  const std::map<TaskKey, Over>& over() const { return over_; }
  // How often each task was started, anywhere.
  const std::map<TaskKey, uint32_t>& starts() const { return starts_; }
  // When, the last time.
  MonotonicTime startedAt(const TaskKey& key) const { return startedAt_.at(key); }
  // Jobs given to agents directly that are over, and when.
  const std::map<std::pair<uint32_t, JobNumber>, MonotonicTime>& jobsOver() const { return jobsOver_; }
  const std::vector<AgentFailed>& failures() const { return failures_; }
  uint64_t vainAsks() const { return vainAsks_; }

  JobScheduler& agent(uint32_t number) { return *agents_[number].scheduler; }
  ReservationQueue& server(ServerId id) { return *servers_[id].queue; }
  // Tasks of this user that run now.
  uint32_t running(UserNumber user) const;

 private:
  struct Event {
    MonotonicTime time{};
    uint64_t sequence = 0;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return std::tie(time, sequence) > std::tie(other.time, other.sequence);
    }
  };
  struct Job {
    uint32_t owner = 0;
    uint64_t number = 0;           // its owner's
    std::vector<TaskIndex> tasks;  // its owner's, by the agent's; empty: the same
    SessionNumber session = 0;     // of the client; 0: direct
    Durations durations;
    UserNumber user = 0;
  };
  struct Agent {
    std::unique_ptr<JobScheduler> scheduler;
    SchedulerActions actions;
    std::map<JobNumber, Job> jobs;
    bool isUp = true;
    uint64_t incarnation = 0;
    MonotonicTime resumes{};  // stopped until then
    MonotonicTime wake = MonotonicTime::max();
  };
  struct Server {
    std::unique_ptr<ReservationQueue> queue;
    QueueActions actions;
    bool isUp = true;
    uint64_t incarnation = 0;
    MonotonicTime wake = MonotonicTime::max();
    std::map<SlotLeaseId, UserNumber> running;
  };
  struct Client {
    std::unique_ptr<ClientSession> session;
    ClientActions actions;
    ClientJob jobs = 0;
    std::map<ClientJob, Durations> durations;
    MonotonicTime wake = MonotonicTime::max();
  };
  // A session between an agent and a monitor. `number` is how the monitor knows the agent; 0: none.
  struct Link {
    AgentNumber number = 0;
  };

  Link& link(uint32_t agent, ServerId server) { return links_[agent * servers_.size() + server]; }
  void connect(uint32_t agent, ServerId server);
  void breakLink(uint32_t agent, ServerId server);
  Duration noticed() {
    return Duration(static_cast<int64_t>(rng_.below(static_cast<uint64_t>(options_.noticing.count())) + 1));
  }
  void startServer(ServerId server);
  void startAgent(uint32_t agent);

  // Hands the agent something as soon as it is not stopped, if it still lives then.
  void whenAwake(uint32_t agent, std::function<void()> what);
  template <typename Message>
  void toServer(uint32_t agent, Message message);
  template <typename Message>
  void toAgent(ServerId server, Message message);
  void carry(std::function<void()> delivery);
  void flushAgent(uint32_t agent);
  void flushServer(ServerId server);
  void flushClient(uint32_t client);
  void startTask(ServerId server, const StartTask& start);
  void endTask(ServerId server, uint64_t incarnation, SlotLeaseId lease, int32_t code);
  void tell(uint32_t agent, const TaskOver& over);
  void closeSession(uint32_t client, SessionNumber session);
  TaskKey keyOf(const Job& job, TaskIndex task) const {
    return {job.owner, job.number, job.tasks.empty() ? task : job.tasks[task]};
  }

  const WorldOptions options_;
  Rng rng_;
  MonotonicTime now_{};
  uint64_t sequence_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Agent> agents_;
  std::vector<Server> servers_;
  std::vector<Client> clients_;
  std::vector<Link> links_;
  AgentNumber lastNumber_ = 0;
  std::map<AgentNumber, uint32_t> agentOf_;
  std::map<std::pair<uint32_t, ClientJob>, OnFailure> onFailureOf_;
  std::map<TaskKey, Over> over_;
  std::map<TaskKey, uint32_t> starts_;
  std::map<TaskKey, MonotonicTime> startedAt_;
  std::map<std::pair<uint32_t, JobNumber>, MonotonicTime> jobsOver_;
  std::vector<AgentFailed> failures_;
  uint64_t vainAsks_ = 0;
};

}  // namespace tarcil::late
