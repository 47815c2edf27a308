// What an agent holds and the steps that change it. Private to agent_logic: agent_logic.cc takes events and
// keeps time, admitting.cc takes submissions in, placing.cc samples and commits, answering.cc takes the
// master's word, foreseeing.cc says what would become of a submission.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/logic/agent_logic.h"
#include "agent/logic/commits_in_flight.h"
#include "agent/logic/held_job.h"
#include "agent/logic/launches.h"
#include "agent/logic/likely_servers.h"
#include "agent/logic/state_copy.h"
#include "agent/logic/wait_reason.h"
#include "core/decide/chooser.h"
#include "core/decide/job_plan.h"
#include "core/decide/options.h"

namespace tarcil {

struct AgentLogic::State {
  explicit State(const AgentOptions& options) : options(options), launches(options.launchRetry) {}

  // The arguments of one handle().
  struct EventContext {
    MonotonicTime now;
    WallTime wall;
    Rng& rng;
    std::vector<agent::Action>& actions;
    std::vector<JobId> passed{};   // had their turn, and nothing is committed for them
    std::vector<JobId> untried{};  // the same, because no task of theirs could be placed
  };

  // A submission that passed its checks and waits for the master.
  struct Arrival {
    std::vector<agent::RequestId> clients;
    NewJob job;
    MonotonicTime deadline;  // refused as Unavailable then, where the master is still away
    // Was found admissible once, and its first commit may have reached the master: it is not refused any
    // more.
    bool admitted = false;
  };

  // Why a job waits, and the decision that says so, where the master does not know yet.
  struct PendingReason {
    agent::WaitReason reason;
    Explanation explanation;
    uint64_t capacityVersion = 0;  // by that decision
  };

  struct Job {
    explicit Job(agent::HeldJob held) : held(std::move(held)) {}

    agent::HeldJob held;
    std::shared_ptr<const std::vector<InputFile>> files;  // until durable
    bool durable = false;                                 // else its first commit is in flight
    std::vector<agent::RequestId> clients;                // waiting for it to be durable

    bool isOffered = false;                     // the master waits for an answer
    std::vector<ServerId> leaves;               // of what is kept, in this turn, whatever its priority
    bool isToTry = false;                       // as soon as none of its commits is in flight
    uint64_t tryNumber = 0;                     // where it is to be tried: the lower, the sooner
    std::optional<Duration> toldBound;          // by the master: how long to wait for a good place
    uint32_t replans = 0;                       // in a row, because claims were refused
    std::optional<MonotonicTime> waitingSince;  // has had tasks to place since then, and got no slot
    bool late = false;                          // has waited for the bound: takes the best there is
    std::string reportedKind;                   // of the reason that the master was told last
    MonotonicTime reportedAt{};
    std::optional<PendingReason> pendingReason;
    std::optional<MonotonicTime> due;  // its entry in `timers`
    bool counted = false;              // in waitingOfUser
    bool waits = false;                // counted in `waiting`

    const JobSpec& spec() const { return held.record().spec; }
    const JobId& id() const { return held.record().id; }
  };

  // --- Events (agent_logic.cc, answering.cc)
  void on(const agent::MasterAttached& event, EventContext& context);
  void on(const agent::MasterLost& event, EventContext& context);
  void on(const agent::ServersUpdated& event, EventContext& context);
  void on(const agent::SnapshotComplete& event, EventContext& context);
  void on(const agent::ChecksumTold& event, EventContext& context);
  void on(const agent::SettingsUpdated& event, EventContext& context);
  void on(const agent::PlatformUpdated& event, EventContext& context);
  void on(const agent::JobsOffered& event, EventContext& context);
  void on(const agent::QueueTold& event, EventContext& context);
  void on(const agent::SubmitArrived& event, EventContext& context);
  void on(const agent::CommitAnswered& event, EventContext& context);
  void on(const agent::JobAssigned& event, EventContext& context);
  void on(const agent::LaunchAnswered& event, EventContext& context);
  void on(const agent::TimerFired& event, EventContext& context);

  // Drops the copy; a snapshot is to follow.
  void startCopyAnew();

  // --- Time (agent_logic.cc)
  // Does what is due whatever the event was: timers, launches, submissions, waiting jobs. Then asks for the
  // next wake-up.
  void finish(EventContext& context);
  void runTimers(EventContext& context);
  void askToWake(EventContext& context);
  // Whether decisions can be made: the master is there and its snapshot is whole.
  bool ready() const { return attached && snapshot; }

  // --- Admitting (admitting.cc)
  void answer(const std::vector<agent::RequestId>& clients, const Status& status, EventContext& context);
  void admitArrivals(EventContext& context);
  void expireArrivals(EventContext& context);
  void admit(Arrival arrival, EventContext& context);
  // What is checked of a submission when it arrives; gives the user that its tasks run as.
  Result<std::string> accept(const Caller& caller, const JobSpec& spec,
                             const std::vector<InputFile>& files) const;
  // What is checked once the whole state is known. Requires: ready().
  Status admissible(const JobSpec& spec, const std::string& user) const;

  // --- Foreseeing (foreseeing.cc)
  Result<JobPlan> foresee(const Caller& caller, const JobSpec& spec, uint64_t seed) const;

  // --- Placing (placing.cc)
  // Tries the jobs that have their turn, or that time has made ready.
  void tryWaiting(EventContext& context);
  // The job is to be tried, after those that are already.
  void markToTry(Job& job);
  // The same, where no others wait to be tried before it; else when they have been, or it has its turn.
  void markToTryWhenFree(Job& job);
  // Whether the job's turn comes behind others that wait to be tried.
  bool isBehindOthers(const JobSpec& spec) const;
  // Servers that a job without a turn leaves alone.
  std::span<const ServerId> keptFrom(const JobSpec& spec) const;
  void submitUntried(Job& job, EventContext& context);  // without looking for slots
  void pass(Job& job, EventContext& context);
  // Chooses slots for the job's placeable tasks and sends what follows. Requires: ready(), none of its
  // commits in flight.
  void plan(Job& job, EventContext& context);
  Commit decide(Job& job, agent::WaitReason& reason, EventContext& context);
  // What slots are judged by: as the master has it, but without a margin while the cluster is crowded.
  QualitySettings settingsNow() const;
  // Nor in a turn of a job that others leave servers to, for these were chosen without.
  QualitySettings settingsFor(const Job& job) const;
  // How a decision is to be made.
  struct How {
    QualitySettings settings;
    Standard standard = Standard::kAcceptable;
    size_t atMost = kMaxTasks;                        // tasks
    size_t candidates = Explanation::kMaxCandidates;  // in the explanation
    uint64_t seed = 0;
    std::span<const ServerId> except;  // servers that are kept for others, ascending
  };
  // What a decision for the job's placeable tasks comes to.
  struct Attempt {
    Decision decision;
    agent::WaitReason reason;  // why some of them would have to wait; empty where none would
    bool isCutOff = false;     // there would be room for more than `atMost`
  };
  // Whether the sample reached its cap without finding enough, and matching buckets may have more.
  bool lookOn(const JobSpec& spec, const Decision& decision, const How& how) const;
  // Decides on the copy as it is; changes only the chooser's memory. A job that does not say how long it may
  // wait for a good place prefers one with the margin, and does not wait for it. Requires: ready().
  Attempt attemptFor(const agent::HeldJob& held, const How& how, Chooser& with) const;
  Attempt attemptBy(const agent::HeldJob& held, const How& how, Chooser& with) const;
  Commit emptyCommit(const Job& job) const;
  void send(Job& job, Commit commit, const agent::WaitReason& reason, EventContext& context);
  // Tells the master why the job waits, now or as soon as the last word is old enough, if that is news.
  void noteReason(Job& job, agent::WaitReason reason, Explanation explanation, EventContext& context);
  void reportReason(Job& job, EventContext& context);
  // Brings the jobs to be tried, the timers and the counts in line with the job. After every change of it.
  void refresh(Job& job, EventContext& context);
  // How long the job waits for a place that is good enough.
  Duration waitBound(const Job& job) const {
    return job.toldBound.value_or(job.spec().maxWait.value_or(options.waitBound));
  }
  void setTimer(Job& job, bool free);
  void count(Job& job);

  // --- The master's word (answering.cc)
  void startEpochAnew(EventContext& context);
  void replaceJobs(const std::vector<JobAssignment>& jobs, EventContext& context);
  void assign(const JobAssignment& assignment, EventContext& context);
  void endJob(const JobRecord& over, EventContext& context);
  void assignTask(Job& job, const TaskAssignment& task, EventContext& context);
  void acknowledge(Job& job, const Status& status, EventContext& context);
  // Carries the grants out. Returns whether a claim was refused whose task still wants a slot.
  bool takeGrants(Job& job, const Commit& commit, const CommitAnswer& answer, EventContext& context);
  bool takeGrant(Job& job, const Claim& claim, const Grant& grant, EventContext& context);
  void afterGrants(Job& job, bool refused, EventContext& context);
  void launch(Job& job, TaskIndex index, EventContext& context);
  void apply(const std::vector<ServerUpdate>& updates, agent::StateCopy::Source source,
             EventContext& context);
  Job* find(const JobId& id);
  void forget(const JobId& id);

  // --- Constant
  const AgentOptions options;

  // --- The attachment
  uint64_t epoch = 0;
  bool attached = false;
  bool snapshot = false;  // the one that follows the attachment is whole

  // --- The copy of the shared state
  agent::StateCopy copy;
  agent::LikelyServers likely;
  Chooser chooser;
  QualitySettings settings;
  uint64_t decisions = 0;  // made
  uint64_t comparisons = 0, mismatches = 0;
  agent::CommitsInFlight inFlight;

  // --- Work
  std::deque<Arrival> arrivals;  // by deadline
  std::map<JobId, Job> jobs;
  std::map<std::string, uint32_t> waitingOfUser;  // jobs with tasks that have no slot
  size_t waiting = 0;                             // jobs with tasks that could be placed, were there slots
  std::set<std::pair<uint64_t, JobId>> toTry;     // jobs that can be tried at once, by tryNumber
  uint64_t tryNumber = 0;                         // given last
  std::set<JobId> deferred;                       // to be tried once nobody is before them
  std::optional<uint8_t> pendingPriority;         // QueueTold
  uint64_t capacityVersion = 0;                   // the same
  std::vector<ServerId> kept;                     // the same: for others, ascending
  bool crowded = false;                           // the same
  std::set<std::pair<MonotonicTime, JobId>> timers;
  agent::Launches launches;
  std::optional<MonotonicTime> wakeAt;  // the WakeAt that is under way
};

}  // namespace tarcil
