// The one durable copy of the shared state: validates commits, records what becomes of tasks, decides
// which agent may place which job. A state machine without I/O; master/server/master_server.h carries its
// actions out.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/model/launch.h"
#include "identity/logic/member_table.h"
#include "identity/logic/people_table.h"
#include "master/logic/cluster_survey.h"
#include "master/logic/events.h"
#include "master/logic/jobs/job_list.h"
#include "master/logic/options.h"
#include "secrets/logic/secret_table.h"

namespace tarcil {

namespace master {
struct Tables;
}

// A job as a query shows it.
struct JobDetails {
  JobRecord record;
  JobProgress progress;
  std::vector<TaskRecord> tasks;      // in order, from the one that was asked for
  TaskIndex nextTask = 0;             // that it goes on with; 0: all were told
  std::array<uint32_t, 7> inState{};  // all of its tasks, by RunState
  // Waiting jobs that come before it in the queue. 0 unless it waits. This and the steps only with the first
  // task.
  uint32_t ahead = 0;
  std::vector<AdjustingStep> steps{};       // taken for its degraded tasks, the newest last
  std::vector<TaskViolation> violations{};  // of those in `tasks`
  std::vector<TaskCharge> charges{};        // of those in `tasks` that were measured, in order
  std::string outOfReach{};                 // which of its servers is; told where there is no other reason
};

struct ServerView {
  ServerId id = 0;
  ServerFacts facts;
  ServerStatus status;
  struct Task {
    JobId job;
    JobNumber jobNumber = 0;
    TaskIndex index = 0;
    AllocationId allocation = 0;
    std::vector<RuIndex> rus;
    ExtraNumbers extras;
    Profile profile;
    std::vector<Resource> over;  // resources on which interference on the task exceeds what it tolerates
    Pressure charged{};          // what placement takes it to cause
    ResourceSet measured{};      // of that
    Throttle throttle{};
    ByteRequest request{};
    bool isStrict = false;                 // JobSpec::isStrict()
    std::optional<Reached> performance{};  // of a watched task, once its monitor has told it
  };
  std::vector<Task> tasks;
  Pressure contention{};  // that a new task would meet: of every task and the background
  std::string reason;     // why it takes no new tasks; empty where it does, or is just down
  bool draining = false;
  WallTime drainAt = kNever;              // draining: when its tasks are ended; kNever: they are being ended
  WallTime asideUntil = kNever;           // end of its quarantine; kNever: it is in none
  uint64_t refusedClaims = 0;             // since the master's start
  uint32_t neverStarted = 0;              // launches in a row that failed by its own fault
  std::vector<AbsentPressure> absent;     // what the background does not include
  std::vector<TaskViolation> violations;  // of degraded tasks on it
  bool autoCordoned = false;              // for one of them
  RuSet pool{};                           // units that late-bound tasks run on
  PressureSum poolCaused{};               // by those tasks together
};

struct AgentView {
  std::string name, address;
  uint64_t epoch = 0;
  bool attached = false;
  uint32_t jobs = 0;  // unfinished jobs that it owns
};

// A cron as a query shows it: with the states of its jobs as they are now, where the master knows these.
struct CronView {
  Cron cron;
  std::vector<WallTime> next;  // times that come, the next first; none while it is held
  std::string problem;         // why it cannot be run at all; empty where it can
};
// Of whom and what name.
using CronName = std::pair<std::string, std::string>;

class MasterLogic final {
 public:
  // Starts from the contents of the store; appends actions to store the records that a new store needs. Every
  // server counts as down until its monitor attaches; agents may resume. One that is read-only appends none,
  // here and in handle(), but answers that refuse.
  // `zones`, which crons are read by, outlives it.
  MasterLogic(const MasterOptions& options, StoreContents contents, Now now, Rng& rng,
              std::vector<master::Action>& actions, const TimeZones& zones = utcOnly());
  ~MasterLogic();

  // Handles one event and appends the actions that it leads to. They are to be carried out in order.
  void handle(const master::Event& event, Now now, Rng& rng, std::vector<master::Action>& actions);

  // Views of the newest state, which may not be durable yet: an answer made from them may leave only when
  // everything persisted before the call is synced.
  // Of its tasks those from `firstTask` on, so many at most. O(tasks told), and with the first O(jobs ahead).
  std::optional<JobDetails> job(const JobId& id, TaskIndex firstTask = 0, uint32_t atMost = kMaxTasks) const;
  // In which the store has the input files of an unfinished job; 0 where there are none.
  uint32_t filePieces(const JobId& id) const;
  // Of the first `atMost` jobs of the queue, in order, those that the caller may steer. O(atMost).
  std::vector<WaitingJob> waitingJobs(const Caller& caller, size_t atMost, WallTime now) const;
  // nullopt where it does not wait. O(jobs ahead).
  std::optional<WaitingJob> waitingJob(const JobId& id, WallTime now) const;
  // What a job that waits needs to start. nullopt where it does not wait. O(1). Holds until the
  // next handle().
  struct Need {
    const JobSpec* spec = nullptr;
    uint32_t slots = 0;
  };
  std::optional<Need> need(const JobId& id) const;
  // Takes out of the view, where the options say so, what tells the caller whose tasks it has that they may
  // not see: of such a task stay what it presses on and its units, and its job is JobId{}.
  void hideOthers(const Caller& caller, ServerView& view) const;
  // The same of who the neighbours of tasks are that fall short.
  void hideNeighbours(const Caller& caller, std::vector<TaskViolation>& violations) const;
  // What would become of a new job of the caller's because of those that it starts after. Invalid where it
  // may not name these, or its secrets. O(jobs and secrets named).
  Result<AfterOutlook> outlookOf(const Caller& caller, const JobSpec& spec) const;
  // Without its tasks; O(1).
  std::optional<JobSummary> summary(const JobId& id) const;
  // Nothing where there is no such job or task. O(1).
  std::optional<TaskRecord> task(const JobId& id, TaskIndex index) const;
  // Of whoever the caller may steer. O(jobs looked at), which job_list.h bounds.
  JobPage jobs(const Caller& caller, const JobQuery& query) const;
  // Ids of the caller's jobs that start with this prefix of their text form (at most two are returned).
  std::vector<JobId> jobsStartingWith(const std::string& prefix, const Caller& caller) const;
  // The one with this number, if it is the caller's.
  std::vector<JobId> jobsNumbered(JobNumber number, const Caller& caller) const;
  std::vector<ServerView> servers() const;
  // By number from `first` on, so many at most, without their tasks.
  std::vector<ServerView> serversWithoutTasks(ServerId first, size_t atMost) const;
  std::optional<ServerView> server(const std::string& name) const;
  // Null where no server has this number. Holds until the next handle().
  const ServerFacts* facts(ServerId server) const;
  // Where the task with this allocation is; nullopt where it is in nobody's use.
  std::optional<ServerId> serverOf(AllocationId allocation) const;
  // What the monitor of this session is to launch under the allocation, of a task that is starting on a
  // server that is up. Without what only its agent knows (core/state/launch_of.h).
  struct Launching {
    LaunchSpec launch;
    SessionId monitor;
    std::string agent;  // which owns the job
  };
  std::optional<Launching> launching(AllocationId allocation) const;
  // The first `atMost` behind this name, as for usage() and platforms().
  std::vector<AgentView> agents(const std::string& after = "", size_t atMost = SIZE_MAX) const;
  // Of the users whose jobs the caller may steer, by name.
  std::vector<Usage> usage(const Caller& caller, const std::string& after = "",
                           size_t atMost = SIZE_MAX) const;
  // By owner and application. Holds until the next handle(), as what profile() finds.
  const std::map<std::pair<std::string, std::string>, StoredProfile>& profiles() const;
  // Applications that are being measured, or could not be. By application. Holds until the next handle().
  const std::map<std::string, Profiling>& profilings() const;
  // As profiles.h; null where none is stored.
  const StoredProfile* profile(const std::string& application, const std::string& user) const;
  // What was observed of the user's runs of the application; null where nothing was. Holds as the above.
  const ObservedProfile* observed(const std::string& application, const std::string& user) const;
  // By user and application. Holds as the above.
  const std::map<std::pair<std::string, std::string>, ObservedProfile>& observed() const;
  // Those of whoever the caller may steer, by user and name, the first `atMost` behind `after`; of each the
  // next time. O(crons).
  std::vector<CronView> crons(const Caller& caller, const CronName& after, size_t atMost) const;
  // With the next times, so many at most.
  std::optional<CronView> cron(const CronName& name, size_t times) const;
  // Machines that joined or may join, and whose certificates are revoked. Holds as the above.
  const MemberTable& members() const;
  // Users, accounts and tokens that expire. Holds as the above.
  const PeopleTable& people() const;
  // By owner and name, sealed. Holds as the above.
  const SecretTable& secrets() const;
  const MasterOptions& options() const;
  const QualitySettings& settings() const;
  std::vector<PlatformRecord> platforms(const std::string& after = "", size_t atMost = SIZE_MAX) const;
  const ClusterRecord& cluster() const;
  // Counts for metrics. O(1).
  struct Load {
    std::array<size_t, 7> jobs;  // by RunState
    size_t waiting = 0;          // jobs that could use more slots than they have
    size_t agents = 0;           // attached
    size_t monitors = 0;         // attached
    size_t quarantined = 0;      // servers
    size_t reservedServers = 0;
    uint64_t preempted = 0;   // tasks, since the start
    size_t isDegraded = 0;    // tasks that perform below what is expected, or did a moment ago
    size_t autoCordoned = 0;  // servers, for one of them
    master::AdjustingCounts adjusted;
    master::ViolationCounts violations;
    uint64_t freeBytes = 0;  // on the store's disk
  };
  Load load() const;
  // ClusterSurvey::goOn() of what there is.
  bool goOn(ClusterSurvey& survey, size_t atMost) const;
  // Nothing that is waited for will come (read_only.h).
  bool isReadOnly() const;
  // What is wrong with the master, for people; empty where nothing is.
  std::string warning() const;
  // How long before this start the store changed last, where the clock may be wrong by that; else zero.
  Duration doubtfulGap() const;
  // Every server with its facts, for a new agent's snapshot.
  std::vector<ServerUpdate> snapshot() const;

 private:
  std::unique_ptr<master::Tables> tables_;
};

}  // namespace tarcil
