// Random events, with the master dying between and within them: what must hold after each of them
// (design 11).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <set>

#include "core/state/occupancy.h"
#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::random_events_test {

using namespace master;

struct AgentModel {
  std::string name;
  std::optional<SessionId> session;
  uint64_t epoch = 0;
  uint64_t next = 1;      // sequence of the next commit
  uint64_t answered = 0;  // as told to the master
  std::map<uint64_t, Commit> sent;
  std::map<uint64_t, CommitAnswer> answers;
};

struct MonitorModel {
  std::string identity;
  std::vector<ServerFacts> servers;
  std::optional<SessionId> session;
};

ServerFacts serverWith(const std::string& name, uint32_t rus, const Extras& extras) {
  ServerFacts facts = serverFacts(name, rus);
  facts.extras = extras;
  return facts;
}

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed) : rng_(seed), master_(options()) {
    QualitySettings settings;
    settings.profileUnknown = true;
    master_.handle(SettingsSet{0, settings});
  }

  void step() {
    if (chance(0.3)) answerResize();
    if (chance(0.1)) tellViolations();
    if (chance(0.02)) changeCron();
    const uint64_t dice = rng_.below(100);
    if (dice < 10) return attachAgent();
    if (dice < 14) return detachSomebody();
    if (dice < 24) return attachMonitor();
    if (dice < 26) return cancelSomething();
    if (dice < 27) return steerSomething();
    if (dice < 30) return passTime();
    if (dice < 31) return restart();
    if (dice < 36) return repeatCommit();
    if (dice < 75) return sendCommit();
    return report();
  }

  void check() {
    checkUnits();
    checkJobs();
    checkUsage();
    checkRecords();
  }

  size_t granted() const { return granted_.size(); }
  size_t measured() { return master_.logic().profiles().size(); }
  size_t ended() const { return ended_; }
  size_t resized() const { return resized_; }
  // Of those whose crons are still there.
  size_t madeByCrons() {
    size_t made = 0;
    for (const CronView& view : master_.logic().crons(theOperator(), {}, 100))
      made += view.cron.lastJob ? 1 : 0;
    return made;
  }

 private:
  static MasterOptions options() {
    MasterOptions options;
    options.keepFinishedJobs = 5;
    options.jobsMessageBytes = 2'000;  // some jobs
    return options;
  }

  bool chance(double probability) { return rng_.unit() < probability; }

  // One that is away, if there is one.
  template <typename Peer>
  Peer& pick(std::vector<Peer>& peers) {
    for (Peer& peer : peers) {
      if (!peer.session) return peer;
    }
    return peers[rng_.below(peers.size())];
  }

  // The event's actions, or nothing where the master died of it.
  std::optional<std::vector<Action>> deliver(const Event& event) {
    if (chance(0.01)) {
      master_.dieBeforeStoring(event);
      forgetSessions();
      return std::nullopt;
    }
    if (chance(0.01)) {
      countEnds(master_.dieBeforeAnswering(event));
      forgetSessions();
      return std::nullopt;
    }
    std::vector<Action> actions = master_.handle(event);
    noteEnds(actions);
    return actions;
  }

  void forgetSessions() {
    for (AgentModel& agent : agents_) agent.session.reset();
    for (MonitorModel& monitor : monitors_) monitor.session.reset();
  }

  void restart() {
    std::map<JobId, JobDetails> before;
    for (const JobSummary& job : master_.logic().jobs(theOperator(), {.limit = 1000}).jobs) {
      before.emplace(job.id, *master_.logic().job(job.id));
    }
    const auto crons = master_.logic().crons(theOperator(), {}, 100);
    master_.restart();
    forgetSessions();
    ASSERT_EQ(master_.logic().jobs(theOperator(), {.limit = 1000}).jobs.size(), before.size());
    for (const auto& [id, details] : before) {
      const JobDetails after = *master_.logic().job(id);
      EXPECT_EQ(after.record, details.record);
      EXPECT_EQ(after.progress, details.progress);
      EXPECT_EQ(after.tasks, details.tasks);
      EXPECT_EQ(after.ahead, details.ahead);
    }
    const auto cronsAfter = master_.logic().crons(theOperator(), {}, 100);
    ASSERT_EQ(cronsAfter.size(), crons.size());
    for (size_t i = 0; i < crons.size(); ++i) EXPECT_EQ(cronsAfter[i].cron, crons[i].cron);
  }

  void attachAgent() {
    AgentModel& agent = pick(agents_);
    const uint64_t epoch = chance(0.8) ? agent.epoch : 0;
    agent.session.reset();
    const SessionId session = nextSession_++;
    const auto actions = deliver(AgentAttached{0, session, agent.name, epoch, "address"});
    if (!actions) return;
    agent.session = session;
    const AnswerAgentAttached answer = only<AnswerAgentAttached>(*actions).at(0);
    const uint64_t given = *answer.epoch;
    for (bool more = answer.told.more; more;) {
      const auto told = deliver(MoreJobsAsked{0, session});
      if (!told) return;
      more = only<AnswerMoreJobs>(*told).at(0).told->more;
    }
    if (given != agent.epoch) {
      agent = {agent.name, session, given, 1, 0, {}, {}};
    } else if (agent.sent.contains(agent.next)) {
      send(agent, agent.sent[agent.next]);  // the one in flight when the connection ended
    }
  }

  void attachMonitor() {
    MonitorModel& monitor = pick(monitors_);
    if (!monitor.session && chance(0.1)) monitor.identity += "'";
    monitor.session.reset();
    MonitorAttached event{0, nextSession_++, monitor.identity, {}, {{999'999'999, "a"}}};
    for (const ServerFacts& server : monitor.servers) {
      if (chance(0.95)) event.servers.push_back(server);
      // It comes back with more or fewer than its tasks hold.
      if (chance(0.2) && !event.servers.empty())
        event.servers.back().extras["gpus"] = 1 + static_cast<uint32_t>(rng_.below(4));
      const auto view = master_.logic().server(server.name);
      if (!view) continue;
      for (const ServerView::Task& task : view->tasks) {
        if (chance(0.9)) event.tasks.push_back({task.allocation, server.name});
      }
    }
    // Now and then its last server comes in a call of its own.
    std::optional<MoreServersAttached> more;
    if (event.servers.size() > 1 && chance(0.5)) {
      more = MoreServersAttached{0, event.session, {event.servers.back()}, {}};
      event.servers.pop_back();
      const auto isThere = [&more](const KnownTask& task) { return task.server == more->servers[0].name; };
      std::ranges::copy_if(event.tasks, std::back_inserter(more->tasks), isThere);
      std::erase_if(event.tasks, isThere);
    }
    const auto actions = deliver(event);
    if (!actions || !only<AnswerMonitorAttached>(*actions).at(0).status) return;
    monitor.session = event.session;
    if (more) deliver(*more);
  }

  void detachSomebody() {
    std::optional<SessionId>& session = chance(0.5) ? agents_[rng_.below(agents_.size())].session
                                                    : monitors_[rng_.below(monitors_.size())].session;
    if (!session) return;
    const PeerDetached event{*session};
    session.reset();
    deliver(event);
  }

  void passTime() {
    const int64_t seconds = static_cast<int64_t>(chance(0.1) ? rng_.below(70) : rng_.below(3));
    noteEnds(master_.pass(std::chrono::seconds(seconds)));
  }

  void cancelSomething() {
    deliver(CancelRequested{0, jobId(static_cast<int>(rng_.below(kJobs))), theOperator()});
  }

  void steerSomething() {
    const char* const servers[] = {"a", "b", "c", "d"};
    ServersSteered event{0, theOperator(), {servers[rng_.below(4)]}, ServerChange::kUncordon, {}};
    if (chance(0.2)) event.change = ServerChange::kDrain;
    if (chance(0.1)) event.change = ServerChange::kCordon;
    if (chance(0.5)) event.deadline = std::chrono::seconds(rng_.below(5));
    deliver(event);
  }

  // Each has at most one job that waits, since nobody places those.
  void changeCron() {
    const std::string name = "cron-" + std::to_string(rng_.below(3));
    if (chance(0.5)) {
      CronSpec cron{.id = {}, .name = name, .schedule = "* * * * *", .zone = "UTC", .job = spec()};
      for (uint8_t& byte : cron.id.bytes) byte = static_cast<uint8_t>(rng_.below(256));
      deliver(CronAdded{0, {"alice", Role::kSubmit, {"build"}}, cron});
    } else {
      const auto change = static_cast<CronChange>(rng_.below(chance(0.2) ? 4 : 3));
      JobId job;
      for (uint8_t& byte : job.bytes) byte = static_cast<uint8_t>(rng_.below(256));
      deliver(CronSteered{0, theOperator(), "alice", name, change, job});
    }
  }

  Commit randomCommit() {
    const int number = static_cast<int>(rng_.below(kJobs));
    JobSpec wanted = spec(1 + static_cast<uint32_t>(rng_.below(5)), 1 + static_cast<uint32_t>(rng_.below(2)));
    wanted.restart.attempts = static_cast<uint32_t>(rng_.below(3));
    wanted.restart.onLost = chance(0.5);
    wanted.schedule = chance(0.3) ? Schedule::kGang : Schedule::kIncremental;
    if (chance(0.3)) wanted.extras["gpus"] = 1 + static_cast<uint32_t>(rng_.below(2));
    if (chance(0.1)) wanted.extras["tapes"] = 1;
    wanted.profile = causing(static_cast<Resource>(rng_.below(3)), static_cast<uint8_t>(rng_.below(90)));
    wanted.profile.tolerated = toleratedFromCaused(wanted.profile.caused);
    wanted.adjust = {static_cast<uint32_t>(rng_.below(3)), chance(0.3)};
    if (wanted.adjust != Adjusting{}) wanted.performance.emplace();
    if (chance(0.2)) {
      wanted.measures = "app-" + std::to_string(rng_.below(10));
      wanted.tasks = 1;
    }
    const auto existing = master_.logic().job(jobId(number));
    if (existing) wanted = existing->record.spec;
    Commit commit = newJob(number, wanted);
    // Not ahead of the master's clock: a job from the future is as old as its arrival, which is not stored.
    commit.newJob->record.submitted = master_.now().wall;
    if (existing && chance(0.8)) commit.newJob.reset();
    for (TaskIndex task = 0; task < wanted.tasks; ++task) {
      if (chance(0.3)) continue;
      const auto server = static_cast<ServerId>(chance(0.02) ? 99 : rng_.below(4));
      commit.claims.push_back(claim(task, server, wanted.rusPerTask));
      Claim& last = commit.claims.back();
      if (existing) last.attempt = existing->tasks[task].attempt;
      if (chance(0.3)) last.floor = 0.9;
      if (chance(0.3)) last.preferred = {static_cast<RuIndex>(rng_.below(4))};
    }
    commit.explanation.wanted = commit.claims.size();
    return commit;
  }

  void sendCommit() {
    AgentModel& agent = agents_[rng_.below(agents_.size())];
    if (!agent.session) return;
    Commit commit = randomCommit();
    commit.sequence = agent.next;
    agent.answered = std::max(agent.answered, agent.next - 1 - rng_.below(std::min<uint64_t>(agent.next, 3)));
    commit.answered = agent.answered;
    agent.sent[commit.sequence] = commit;
    send(agent, commit);
  }

  void repeatCommit() {
    AgentModel& agent = agents_[rng_.below(agents_.size())];
    const auto answer = agent.answers.upper_bound(agent.answered);
    if (!agent.session || answer == agent.answers.end()) return;
    send(agent, agent.sent[answer->first]);
  }

  void send(AgentModel& agent, const Commit& commit) {
    const auto actions = deliver(CommitArrived{0, *agent.session, commit});
    if (!actions) return;
    CommitAnswer answer = only<AnswerCommit>(*actions).at(0).answer;
    answer.servers.clear();
    const auto [first, isFirst] = agent.answers.emplace(commit.sequence, answer);
    EXPECT_EQ(answer, first->second) << "a repeat got another answer";
    agent.next = std::max(agent.next, commit.sequence + 1);
    if (isFirst) noteGrants(commit, answer);
  }

  // Every answered grant is stored, and its number is new.
  void noteGrants(const Commit& commit, const CommitAnswer& answer) {
    const std::deque<TaskRecord> stored = master_.store().load()->tasks;
    for (size_t i = 0; i < answer.grants.size(); ++i) {
      const Grant& grant = answer.grants[i];
      if (grant.verdict != Verdict::kGranted) continue;
      EXPECT_TRUE(granted_.insert(grant.allocation).second) << "allocation given twice";
      const auto record = std::find_if(stored.begin(), stored.end(), [&commit, i](const TaskRecord& task) {
        return task.job == commit.job && task.index == commit.claims[i].task;
      });
      ASSERT_NE(record, stored.end());
      EXPECT_GE(record->allocation, grant.allocation);  // later where the answer had to be repeated
    }
  }

  void report() {
    MonitorModel& monitor = monitors_[rng_.below(monitors_.size())];
    if (!monitor.session) return;
    ReportsArrived event{0, *monitor.session, {}};
    for (const ServerView& server : master_.logic().servers()) {
      for (const ServerView::Task& task : server.tasks) {
        if (chance(0.6)) event.reports.push_back({task.allocation, chance(0.6), randomEnd()});
      }
    }
    if (!granted_.empty()) event.reports.push_back({*granted_.begin(), true, randomEnd()});
    for (TaskReport& report : event.reports) {
      if (chance(0.8)) report.measured = Measurement{{}, chance(0.8) ? "" : "no load"};
    }
    const auto actions = deliver(event);
    if (actions) {
      EXPECT_TRUE(only<AnswerReports>(*actions).at(0).status.ok());
    }
  }

  void tellViolations() {
    const MonitorModel& monitor = monitors_[rng_.below(monitors_.size())];
    if (!monitor.session) return;
    ViolationsReported event{*monitor.session, {}};
    for (const ServerView& server : master_.logic().servers()) {
      for (const ServerView::Task& task : server.tasks) {
        if (chance(0.3)) continue;
        Violation& violation = event.violations.emplace_back();
        violation.allocation = task.allocation;
        violation.over = chance(0.4);
        violation.expected = 1;
        violation.measured = chance(0.5) ? 0 : 0.5;
        const Cause::Kind kinds[] = {Cause::Kind::kCores, Cause::Kind::kMemoryLimit, Cause::Kind::kDisk,
                                     Cause::Kind::kUnknown, Cause::Kind::kNeighbour};
        if (violation.over) continue;
        const ServerView::Task& neighbour = server.tasks[rng_.below(server.tasks.size())];
        const Resource resource = chance(0.5) ? Resource::kCore : Resource::kDiskBandwidth;
        violation.causes = {{kinds[rng_.below(5)], resource, neighbour.allocation, 1, ""}};
      }
    }
    deliver(event);
  }

  // A monitor gives a task the units, or does not, and says so, unless the connection ends before.
  void takeResizes(const std::vector<Action>& actions) {
    for (const ResizeTask& resize : only<ResizeTask>(actions)) {
      const bool isDone = chance(0.7);
      if (isDone) usedBy_[resize.allocation] = {resize.rus.begin(), resize.rus.end()};
      const Status status = isDone ? Status() : Status(Error{ErrorCode::kInternal, "cannot"});
      if (chance(0.9)) answers_.push_back({resize.session, resize.allocation, resize.rus, status});
      resized_ += isDone ? 1 : 0;
    }
  }

  // A monitor throttles a task, or cannot.
  void takeThrottles(const std::vector<Action>& actions) {
    for (const ThrottleTask& throttle : only<ThrottleTask>(actions)) {
      for (const auto which : kThrottleShares) {
        const double share = throttle.throttle.*which;
        EXPECT_TRUE(share > 0 && share <= 1) << share;
      }
      const Status status = chance(0.8) ? Status() : Status(Error{ErrorCode::kUnavailable, "cannot"});
      throttled_.push_back({throttle.session, throttle.allocation, throttle.throttle, status});
    }
  }

  void answerThrottle() {
    if (throttled_.empty()) return;
    const TaskThrottled answer = throttled_.front();
    throttled_.pop_front();
    deliver(answer);
  }

  void answerResize() {
    answerThrottle();
    if (answers_.empty()) return;
    const TaskResized answer = answers_.front();
    answers_.pop_front();
    const bool stands = std::ranges::any_of(
        monitors_, [&answer](const MonitorModel& monitor) { return monitor.session == answer.session; });
    if (stands) deliver(answer);
  }

  TaskEnd randomEnd() {
    TaskEnd end = exitedWith(chance(0.6) ? 0 : 1);
    if (chance(0.2)) end.cause = EndCause::kCancelled;
    if (chance(0.1)) end.cause = EndCause::kNeverStarted;
    return end;
  }

  void countEnds(const std::vector<Action>& actions) {
    for (const JobChanged& change : only<JobChanged>(actions)) stored_ += change.finished ? 1 : 0;
  }

  // No job ends twice.
  void noteEnds(const std::vector<Action>& actions) {
    countEnds(actions);
    takeResizes(actions);
    takeThrottles(actions);
    for (const JobChanged& change : only<JobChanged>(actions)) {
      if (change.finished) {
        EXPECT_TRUE(announced_.insert(change.job).second) << "a job ended twice";
        ++ended_;
      }
    }
  }

  // No unit and no countable thing has two owners, every placed task has what it needs, and the sums are what
  // they are from scratch.
  void checkUnits() {
    size_t placed = 0;
    std::map<AllocationId, std::set<RuIndex>> usedBy;
    for (const ServerView& server : master_.logic().servers()) {
      std::vector<Resident> residents;
      std::set<RuIndex> used;
      std::set<std::pair<std::string, uint16_t>> usedExtras;
      for (const ServerView::Task& task : server.tasks) {
        for (RuIndex ru : task.rus) EXPECT_TRUE(used.insert(ru).second) << "unit with two owners";
        for (const auto& [kind, numbers] : task.extras) {
          for (uint16_t number : numbers)
            EXPECT_TRUE(usedExtras.emplace(kind, number).second) << kind << " with two owners";
        }
        residents.push_back({.allocation = task.allocation,
                             .rus = task.rus,
                             .caused = task.profile.caused,
                             .tolerated = task.profile.tolerated,
                             .extras = task.extras,
                             .request = task.request,
                             .isStrict = master_.logic().job(task.job)->record.spec.isStrict()});
        const std::set<RuIndex> held(task.rus.begin(), task.rus.end());
        const auto on = usedBy.emplace(task.allocation, held).first;
        if (const auto before = usedBy_.find(task.allocation); before != usedBy_.end()) {
          on->second = before->second;
        }
        EXPECT_TRUE(std::ranges::includes(held, on->second)) << "a task runs on a unit that counts as free";
        const JobDetails job = *master_.logic().job(task.job);
        for (const auto& [kind, count] : job.record.spec.extras) {
          EXPECT_TRUE(task.extras.contains(kind) && task.extras.at(kind).size() == count) << kind;
        }
        const TaskRecord& record = job.tasks[task.index];
        EXPECT_EQ(record.extras, task.extras);
        EXPECT_EQ(record.allocation, task.allocation);
        EXPECT_EQ(record.server, server.facts.name);
      }
      ServerStatus scratch = server.status;
      rebuild(scratch, residents, server.facts, fullShare());
      EXPECT_EQ(scratch, server.status);
      placed += server.tasks.size();
    }
    usedBy_ = std::move(usedBy);
    size_t active = 0;
    for (const JobSummary& job : master_.logic().jobs(theOperator(), {.limit = 1000}).jobs)
      active += job.active;
    EXPECT_EQ(placed, active);
  }

  // Each job that has ended is counted once, by how it ended.
  void checkUsage() {
    uint64_t counted = 0;
    for (const Usage& usage : master_.logic().usage(theOperator())) {
      counted += usage.done + usage.failed + usage.cancelled + usage.lost;
    }
    EXPECT_EQ(counted, stored_);
  }

  // Servers come back with fewer countable things than their tasks hold, so the checker speaks of those too.
  void checkRecords() {
    for (const StoreProblem& problem : checkStore(sim::wholeStore(master_.store()))) {
      if (problem.what.find("had more when the task was placed") == std::string::npos) {
        ADD_FAILURE() << problem.key << ": " << problem.what;
      }
    }
  }

  // What has ended stays as it ended; what has not has an owner that counts it.
  void checkJobs() {
    std::map<JobId, JobProgress> finished;
    uint32_t unfinished = 0;
    std::array<size_t, 7> inState{};
    for (const JobSummary& job : master_.logic().jobs(theOperator(), {.limit = 1000}).jobs) {
      const JobProgress progress = master_.logic().job(job.id)->progress;
      ++inState[static_cast<size_t>(progress.state)];
      EXPECT_EQ(isFinal(progress.state), job.queued + job.active == 0);
      if (!isFinal(progress.state)) {
        ++unfinished;
        continue;
      }
      finished.emplace(job.id, progress);
      const auto before = finished_.find(job.id);
      if (before != finished_.end()) {
        EXPECT_EQ(before->second, progress);
      }
    }
    EXPECT_EQ(master_.logic().load().jobs, inState);
    EXPECT_LE(finished.size(), options().keepFinishedJobs);
    uint32_t owned = 0;
    for (const AgentView& agent : master_.logic().agents()) owned += agent.jobs;
    EXPECT_EQ(owned, unfinished);
    std::erase_if(announced_, [this](const JobId& id) { return !master_.logic().job(id); });
    finished_ = std::move(finished);
  }

  static constexpr uint64_t kJobs = 30;

  Rng rng_;
  MasterHarness master_;
  SessionId nextSession_ = 1;
  std::vector<AgentModel> agents_{{"x", {}, 0, 1, 0, {}, {}}, {"y", {}, 0, 1, 0, {}, {}}};
  std::vector<MonitorModel> monitors_{
      {"m", {serverWith("a", 4, {{"gpus", 2}}), serverWith("b", 2, {{"gpus", 2}, {"tapes", 1}})}, {}},
      {"n", {serverWith("c", 3, {}), serverWith("d", 8, {{"gpus", 4}, {"tapes", 3}})}, {}}};
  std::map<AllocationId, std::set<RuIndex>> usedBy_;  // units that the processes of tasks may be on
  std::deque<TaskResized> answers_;                   // of monitors, under way
  std::deque<TaskThrottled> throttled_;               // the same
  size_t resized_ = 0;
  std::set<AllocationId> granted_;         // answered
  std::set<JobId> announced_;              // told to have finished, and still kept
  std::map<JobId, JobProgress> finished_;  // at the last check
  size_t ended_ = 0;                       // jobs
  uint64_t stored_ = 0;                    // the same, with those that nobody was told of
};

TEST(RandomEvents, KeepEveryPromiseThroughDeathsOfTheMaster) {
  size_t granted = 0, ended = 0, resized = 0, measured = 0, madeByCrons = 0;
  for (uint64_t seed = 1; seed <= 110; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCluster cluster(seed);
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      cluster.step();
      cluster.check();
    }
    granted += cluster.granted();
    measured += cluster.measured();
    ended += cluster.ended();
    resized += cluster.resized();
    madeByCrons += cluster.madeByCrons();
  }
  // The runs are worth something only if much happens in them.
  EXPECT_GT(granted, 1'500u);
  EXPECT_GT(measured, 20u);
  EXPECT_GT(ended, 300u);
  EXPECT_GT(resized, 300u);
  EXPECT_GT(madeByCrons, 20u);
}

}  // namespace tarcil::random_events_test
