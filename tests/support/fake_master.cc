#include "tests/support/fake_master.h"

#include "tests/support/event_text.h"

namespace tarcil {
namespace {

// Often, so that the copies of agents are compared at all sorts of moments.
constexpr uint64_t kPublicationsBetweenChecksums = 5;

}  // namespace

FakeMaster::FakeMaster(FakeWorld& world, const MasterOptions& options,
                       std::function<void(const JobId&, RunState)> finished)
    : world_(world), options_(options), finished_(std::move(finished)), timer_(world) {}

void FakeMaster::start() {
  world_.note("master", "starts");
  std::vector<master::Action> actions;
  rng_ = Rng(world_.rng()());
  logic_ = std::make_unique<MasterLogic>(options_, *store_.load(), world_.now(), rng_, actions);
  published_.emplace(logic_->snapshot(), logic_->settings(), logic_->platforms());
  expectNone(ledger_.check(*logic_, disk_));
  // Ends that were stored and not told: whoever waits asks again.
  const StoreContents contents = *disk_.load();
  for (const JobProgress& job : contents.progress) {
    if (isFinal(job.state)) finished_(job.id, job.state);
  }
  carryOut(std::move(actions));
}

void FakeMaster::crash() {
  world_.note("master", "dies");
  // The log of a store keeps what came first.
  for (uint64_t kept = world_.rng().below(unsynced_.size() + 1); kept > 0; --kept) {
    if (!disk_.write(unsynced_.front())) world_.violated("the disk failed");
    unsynced_.pop_front();
  }
  unsynced_.clear();
  commits_.clear();
  logic_.reset();
  ++life_;
  timer_.clear();
  requests_.clear();
  sessions_.clear();
  for (FakeConnection* connection : connections_) connection->masterDied();
}

void FakeMaster::failNextWrite(FaultyStore::Unsynced unsynced, std::function<void()> stopped) {
  if (!alive()) return;
  world_.note("master", "is to fail to write");
  store_.failNext(unsynced);
  stopped_ = std::move(stopped);
}

void FakeMaster::attachAgent(FakeConnection& connection, std::string name, uint64_t epoch, AgentSink sink) {
  const SessionId session = connection.session();
  const RequestId request = world_.nextNumber();
  sessions_[session] = {&connection, std::move(sink), nullptr, false, name, 0};
  requests_[request] = session;
  take(master::AgentAttached{request, session, name, epoch, name});
}

void FakeMaster::attachMonitor(FakeConnection& connection, std::string name, std::vector<ServerFacts> servers,
                               std::vector<KnownTask> tasks, MonitorSink sink) {
  const SessionId session = connection.session();
  const RequestId request = world_.nextNumber();
  sessions_[session] = {&connection, nullptr, std::move(sink), false, "", 0};
  requests_[request] = session;
  take(master::MonitorAttached{request, session, std::move(name), std::move(servers), std::move(tasks)});
}

void FakeMaster::detach(SessionId session) {
  if (sessions_.erase(session) > 0) take(master::PeerDetached{session});
}

void FakeMaster::commit(SessionId session, Commit commit) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  commits_[request] = commit;
  take(master::CommitArrived{request, session, std::move(commit)});
}

void FakeMaster::passTurns(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried) {
  take(master::TurnsPassed{session, std::move(jobs), std::move(untried)});
}

void FakeMaster::renewLease(SessionId session, std::vector<AllocationId> starting) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  take(master::LeaseAsked{request, session, std::move(starting)});
}

void FakeMaster::report(SessionId session, std::vector<TaskReport> reports) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  take(master::ReportsArrived{request, session, std::move(reports)});
}

void FakeMaster::cancel(const JobId& job, const Caller& caller) {
  take(master::CancelRequested{world_.nextNumber(), job, caller});
}

void FakeMaster::steer(std::vector<std::string> servers, master::ServerChange change, Duration deadline) {
  const Caller theOperator{"root", Role::kOperate, {}};
  take(master::ServersSteered{world_.nextNumber(), theOperator, std::move(servers), change, deadline});
}

void FakeMaster::take(const master::Event& event) {
  world_.note("master", text(event));
  std::vector<master::Action> actions;
  logic_->handle(event, world_.now(), rng_, actions);
  carryOut(std::move(actions));
}

// Durable before visible: what leaves waits until everything persisted before it is synced, in order.
void FakeMaster::carryOut(std::vector<master::Action> actions) {
  std::vector<Mutation> mutations;
  std::vector<master::Action> outputs;
  for (master::Action& action : actions) {
    if (auto* persist = std::get_if<master::Persist>(&action)) {
      mutations.push_back(std::move(persist->mutation));
    } else if (const auto* wake = std::get_if<master::WakeAt>(&action)) {
      timer_.set(wake->when, [this] { take(master::TimerFired{}); });
    } else {
      outputs.push_back(std::move(action));
    }
  }
  const bool writes = !mutations.empty();
  syncedBy_ = std::max(syncedBy_, world_.now().steady + (writes ? world_.delay() : Duration::zero()));
  if (writes) unsynced_.push_back(std::move(mutations));
  world_.at(syncedBy_, [this, life = life_, writes, outputs = std::move(outputs)] {
    if (life != life_ || (writes && !sync())) return;
    for (const master::Action& output : outputs) letOut(output);
  });
}

bool FakeMaster::sync() {
  const std::vector<Mutation> batch = std::move(unsynced_.front());
  unsynced_.pop_front();
  if (store_.write(batch).ok()) return true;
  unsynced_.clear();  // nothing is written after a failure
  crash();
  store_ = FaultyStore(disk_, 0, FaultyStore::Unsynced::kForgotten);
  stopped_();
  return false;
}

void FakeMaster::expectNone(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) world_.violated(problem);
}

void FakeMaster::letOut(const master::Action& action) {
  if (const auto* attached = std::get_if<master::AnswerAgentAttached>(&action)) {
    finishAttaching(sessionOf(attached->request), *attached);
  } else if (const auto* monitor = std::get_if<master::AnswerMonitorAttached>(&action)) {
    if (!monitor->status) world_.violated("a monitor was refused: " + monitor->status.error().message);
    send(sessionOf(monitor->request), monitor::MasterAttached{monitor->drop, monitor->stop, monitor->lease});
  } else if (const auto* commit = std::get_if<master::AnswerCommit>(&action)) {
    letOutCommit(*commit);
  } else if (const auto* reports = std::get_if<master::AnswerReports>(&action)) {
    const SessionId session = sessionOf(reports->request);
    if (reports->status) send(session, monitor::ReportsAcknowledged{});
  } else if (const auto* lease = std::get_if<master::AnswerLease>(&action)) {
    const SessionId session = sessionOf(lease->request);
    if (lease->refused.ok()) send(session, monitor::LeaseRenewed{*lease->refused});
  } else if (const auto* server = std::get_if<master::PublishServer>(&action)) {
    publish(agent::ServersUpdated{{server->update}});
    published_->take(server->update);
    if (++publications_ % kPublicationsBetweenChecksums == 0) {
      publish(agent::ChecksumTold{published_->checksum()});
    }
  } else if (const auto* settings = std::get_if<master::PublishSettings>(&action)) {
    publish(agent::SettingsUpdated{settings->settings});
  } else if (const auto* platform = std::get_if<master::PublishPlatform>(&action)) {
    publish(agent::PlatformUpdated{platform->platform, platform->share});
  } else if (const auto* job = std::get_if<master::AssignJob>(&action)) {
    send(job->session, agent::JobAssigned{job->assignment});
  } else if (const auto* queue = std::get_if<master::PublishQueue>(&action)) {
    published_->take(*queue);
    publish(agent::QueueTold{queue->pendingPriority, queue->wakes});
  } else if (const auto* turns = std::get_if<master::GiveTurns>(&action)) {
    agent::TurnsGiven given;
    for (const master::QueueTurn& turn : turns->jobs) given.jobs.push_back(turn.job);
    send(turns->session, std::move(given));
  } else if (const auto* stop = std::get_if<master::StopTask>(&action)) {
    send(stop->session, monitor::StopArrived{stop->allocation});
  } else if (const auto* changed = std::get_if<master::JobChanged>(&action)) {
    if (changed->finished) finished_(changed->job, logic_->job(changed->job)->progress.state);
  }
}

void FakeMaster::letOutCommit(const master::AnswerCommit& answer) {
  const SessionId id = sessionOf(answer.request);
  const auto commit = commits_.extract(answer.request);
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  if (answer.answer.outcome != CommitAnswer::Outcome::kSuperseded) {
    const Session& to = session->second;
    expectNone(ledger_.noteAnswer(to.name, to.epoch, commit.mapped(), answer.answer));
  }
  send(id, agent::CommitAnswered{answer.answer});
}

// The snapshot shows the newest state, so it waits until that is synced.
void FakeMaster::finishAttaching(SessionId session, const master::AnswerAgentAttached& answer) {
  if (!answer.epoch) return world_.violated("an agent was refused: " + answer.epoch.error().message);
  if (const auto found = sessions_.find(session); found != sessions_.end())
    found->second.epoch = *answer.epoch;
  send(session, agent::MasterAttached{*answer.epoch, answer.jobs});
  std::vector<agent::Event> feed{agent::SettingsUpdated{logic_->settings()}};
  for (const PlatformRecord& platform : logic_->platforms()) {
    feed.push_back(agent::PlatformUpdated{platform.name, platform.share});
  }
  feed.push_back(agent::ServersUpdated{logic_->snapshot()});
  feed.push_back(agent::QueueTold{published_->queue().pendingPriority, published_->queue().wakes});
  feed.push_back(agent::SnapshotComplete{});
  world_.at(syncedBy_, [this, life = life_, session, feed = std::move(feed)] {
    const auto found = sessions_.find(session);
    if (life != life_ || found == sessions_.end()) return;
    for (const agent::Event& event : feed) send(session, event);
    found->second.subscribed = true;
  });
}

void FakeMaster::publish(const agent::Event& event) {
  for (const auto& [id, session] : sessions_) {
    if (session.subscribed) send(id, event);
  }
}

void FakeMaster::send(SessionId session, agent::Event event) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.connection->toPeer([sink = found->second.agent, event = std::move(event)] { sink(event); });
}

void FakeMaster::send(SessionId session, monitor::Event event) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.connection->toPeer([sink = found->second.monitor, event = std::move(event)] { sink(event); });
}

// 0, which is no session, where the request came by a connection that is gone.
SessionId FakeMaster::sessionOf(RequestId request) {
  const auto found = requests_.extract(request);
  return found.empty() ? 0 : found.mapped();
}

}  // namespace tarcil
