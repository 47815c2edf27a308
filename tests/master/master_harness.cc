#include "tests/master/master_harness.h"

#include <gtest/gtest.h>

namespace tarcil {

using namespace master;

JobId jobId(int number) {
  JobId id;
  id.bytes[0] = static_cast<uint8_t>(number >> 8);
  id.bytes[1] = static_cast<uint8_t>(number);
  return id;
}

ServerFacts serverFacts(const std::string& name, uint32_t rus, const std::string& platform) {
  ServerFacts facts;
  facts.name = name;
  facts.platform = platform;
  facts.rus = rus;
  facts.cores = rus;
  return facts;
}

Profile causing(Resource resource, uint8_t pressure) {
  Profile profile;
  profile.caused[static_cast<size_t>(resource)] = pressure;
  return profile;
}

JobSpec spec(uint32_t tasks, uint32_t rusPerTask) {
  JobSpec spec;
  spec.name = "job";
  spec.command = {"true"};
  spec.tasks = tasks;
  spec.rusPerTask = rusPerTask;
  return spec;
}

Commit newJob(int number, const JobSpec& spec) {
  Commit commit = moreFor(number);
  commit.gang = spec.schedule == Schedule::kGang;
  commit.newJob.emplace();
  JobRecord& record = commit.newJob->record;
  record.id = commit.job;
  record.spec = spec;
  record.user = "alice";
  record.submitted = kHarnessBegins + std::chrono::seconds(number);
  return commit;
}

Commit moreFor(int number) {
  Commit commit;
  commit.job = jobId(number);
  return commit;
}

Claim claim(TaskIndex task, ServerId server, uint32_t rus) {
  Claim claim;
  claim.task = task;
  claim.server = server;
  claim.rus = rus;
  return claim;
}

Caller user(const std::string& name) {
  return {name, Role::kSubmit, {}};
}

Caller theOperator() {
  return {"root", Role::kOperate, {}};
}

TaskEnd exitedWith(int code) {
  TaskEnd end;
  end.exitCode = code;
  end.started = WallTime(std::chrono::seconds(1000));
  end.ended = WallTime(std::chrono::seconds(1001));
  return end;
}

MasterHarness::MasterHarness(MasterOptions options) : options_(options) {
  QualitySettings settings;
  settings.margin = 0;
  settings.ranking = RankBy::kQuality;
  const Mutation stored = Put{settings};
  EXPECT_TRUE(store_.write({&stored, 1}).ok());
  start();
}

void MasterHarness::start() {
  std::vector<Action> actions;
  wakeAt_.reset();
  wakesAsked_ = 0;
  logic_ = std::make_unique<MasterLogic>(options_, *store_.load(), now_, rng_, actions);
  carryOut(std::move(actions));
}

std::vector<Action> MasterHarness::carryOut(std::vector<Action> actions) {
  std::vector<Mutation> batch;
  std::vector<Action> leaving;
  for (Action& action : actions) {
    if (auto* persist = std::get_if<Persist>(&action)) {
      EXPECT_TRUE(leaving.empty()) << "something would leave before all of its event is stored";
      batch.push_back(std::move(persist->mutation));
    } else if (auto* wake = std::get_if<WakeAt>(&action)) {
      wakeAt_ = wake->when;
      ++wakesAsked_;
    } else {
      if (const auto* queue = std::get_if<PublishQueue>(&action)) queueTold_ = *queue;
      leaving.push_back(std::move(action));
    }
  }
  if (!batch.empty()) {
    EXPECT_TRUE(store_.write(batch).ok());
  }
  return leaving;
}

std::vector<Action> MasterHarness::handle(const Event& event) {
  std::vector<Action> actions;
  logic_->handle(event, now_, rng_, actions);
  return carryOut(std::move(actions));
}

void MasterHarness::restart() {
  start();
}

void MasterHarness::dieBeforeStoring(const Event& event) {
  std::vector<Action> actions;
  logic_->handle(event, now_, rng_, actions);
  start();
}

std::vector<Action> MasterHarness::dieBeforeAnswering(const Event& event) {
  std::vector<Action> unheard = handle(event);
  start();
  return unheard;
}

std::vector<Action> MasterHarness::pass(Duration duration) {
  const MonotonicTime until = now_.steady + duration;
  std::vector<Action> all;
  while (wakeAt_ && *wakeAt_ <= until) {
    const MonotonicTime due = std::max(*wakeAt_, now_.steady);
    now_.wall += due - now_.steady;
    now_.steady = due;
    wakeAt_.reset();
    for (Action& action : handle(TimerFired{})) all.push_back(std::move(action));
  }
  now_.wall += until - now_.steady;
  now_.steady = until;
  return all;
}

void MasterHarness::skip(Duration duration) {
  now_.wall += duration;
  now_.steady += duration;
}

std::vector<Action> MasterHarness::fireTimer() {
  if (!wakeAt_) return {};
  wakeAt_.reset();
  return handle(TimerFired{});
}

SessionId MasterHarness::attachAgent(const std::string& name, uint64_t epoch) {
  const SessionId session = nextSession_++;
  lastActions_ = handle(AgentAttached{nextRequest_++, session, name, epoch, "address-of-" + name});
  agentAnswer_ = only<AnswerAgentAttached>(lastActions_).at(0);
  if (agentAnswer_.epoch.ok() && *agentAnswer_.epoch == epoch) {
    sequences_[session] = sequences_[lastSessionOf_[name]];
  }
  lastSessionOf_[name] = session;
  return session;
}

SessionId MasterHarness::attachMonitor(const std::string& monitor, std::vector<ServerFacts> servers,
                                       std::vector<KnownTask> tasks) {
  const SessionId session = nextSession_++;
  lastActions_ =
      handle(MonitorAttached{nextRequest_++, session, monitor, std::move(servers), std::move(tasks)});
  monitorAnswer_ = only<AnswerMonitorAttached>(lastActions_).at(0);
  return session;
}

void MasterHarness::attachMore(SessionId session, std::vector<ServerFacts> servers,
                               std::vector<KnownTask> tasks) {
  lastActions_ = handle(MoreServersAttached{nextRequest_++, session, std::move(servers), std::move(tasks)});
  monitorAnswer_ = only<AnswerMonitorAttached>(lastActions_).at(0);
}

std::vector<Action> MasterHarness::detach(SessionId session) {
  return handle(PeerDetached{session});
}

CommitAnswer MasterHarness::commit(SessionId agent, Commit commit) {
  commit.sequence = ++sequences_[agent];
  commit.capacityVersion = queueTold_.capacityVersion;
  return resend(agent, commit);
}

CommitAnswer MasterHarness::resend(SessionId agent, const Commit& commit) {
  lastActions_ = handle(CommitArrived{nextRequest_++, agent, commit});
  return only<AnswerCommit>(lastActions_).at(0).answer;
}

AllocationId MasterHarness::place(SessionId agent, Commit commit) {
  const CommitAnswer answer = this->commit(agent, std::move(commit));
  EXPECT_EQ(answer.outcome, CommitAnswer::Outcome::kOk) << answer.problem;
  for (const Grant& grant : answer.grants) EXPECT_EQ(grant.verdict, Verdict::kGranted) << name(grant.verdict);
  return answer.grants.at(0).allocation;
}

std::vector<Action> MasterHarness::started(SessionId monitor, AllocationId allocation) {
  TaskReport report{allocation, false, {}};
  report.end.started = now_.wall;
  return handle(ReportsArrived{nextRequest_++, monitor, {report}});
}

std::vector<Action> MasterHarness::ended(SessionId monitor, AllocationId allocation, const TaskEnd& end,
                                         std::optional<double> reached) {
  return handle(ReportsArrived{
      nextRequest_++, monitor, {{.allocation = allocation, .ended = true, .end = end, .reached = reached}}});
}

std::vector<Action> MasterHarness::cancel(int job, const Caller& caller) {
  return handle(CancelRequested{nextRequest_++, jobId(job), caller});
}

std::vector<Action> MasterHarness::change(PeopleChange change) {
  std::vector<Action> actions =
      handle(PeopleChanged{nextRequest_++, std::move(change), theOperator().user, true});
  EXPECT_TRUE(only<Answer>(actions).at(0).status.ok());
  return actions;
}

std::vector<Action> MasterHarness::steer(const std::string& server, ServerChange change, Duration deadline) {
  std::vector<Action> actions =
      handle(ServersSteered{nextRequest_++, theOperator(), {server}, change, deadline});
  EXPECT_TRUE(only<Answer>(actions).at(0).status.ok());
  return actions;
}

}  // namespace tarcil
