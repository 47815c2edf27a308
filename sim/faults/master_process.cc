#include "sim/faults/master_process.h"

#include "core/model/job_size.h"
#include "master/store/restoring.h"
#include "sim/faults/event_text.h"

namespace tarcil::sim {
namespace {

// Often, so that the copies of agents are compared at all sorts of moments.
constexpr uint64_t kPublicationsBetweenChecksums = 5;

const Error kDeadMaster{ErrorCode::kUnavailable, "the master is gone"};

}  // namespace

MasterProcess::MasterProcess(VirtualWorld& world, TaskChecker& tasks, std::string name, Place place,
                             const MasterOptions& options,
                             std::function<void(const JobId&, RunState)> finished,
                             std::function<void()> stopped)
    : world_(world),
      tasks_(tasks),
      name_(std::move(name)),
      options_(options),
      finished_(std::move(finished)),
      stopped_(std::move(stopped)),
      clock_(world),
      checked_(place.checked),
      disk_(world, *this, place.checked.store),
      timer_(world, clock_, [this] { take(master::TimerFired{}); }) {
  if (place.etcd != nullptr)
    etcd_.emplace(world, static_cast<MasterStorage::Owner&>(*this), *place.etcd, clock_);
}

void MasterProcess::start(std::function<void()> leads) {
  world_.note(name_, "starts");
  if (!etcd_) {
    lead(checked_.store);
    return leads();
  }
  etcd_->standBy([this, leads = std::move(leads)](MemoryStore& store) {
    world_.note(name_, "leads in term " + std::to_string(term()));
    lead(store);
    leads();
  });
}

void MasterProcess::lead(MemoryStore& store) {
  std::vector<master::Action> actions;
  rng_ = Rng(world_.rng()());
  const Now now = clock_.now();
  const StoreContents contents = *store.load();
  logic_ = std::make_unique<MasterLogic>(options_, contents, now, rng_, actions);
  news_ = std::make_unique<AgentNews>(*logic_, now.steady);
  checked_.checker.masterStarts(*logic_, options_, now.steady);
  expectNone(checked_.ledger.check(*logic_, checked_.store));
  // Ends that were stored and not told: whoever waits asks again.
  for (const JobProgress& job : contents.progress) {
    if (isFinal(job.state)) finished_(job.id, job.state);
  }
  carryOut(std::move(actions));
  measureSpace();
}

void MasterProcess::pauseFor(Duration duration) {
  etcd_->pauseFor(duration);
  for (Connection* connection : connections_) connection->masterIsSilent(*this, duration);
}

void MasterProcess::stepDown() {
  world_.note(name_, "steps down");
  etcd_->resign();
  writeFailed();
}

void MasterProcess::measureSpace() {
  if (!alive()) return;
  if (isPaused()) return etcd_->whenItRuns([this] { measureSpace(); });
  toldFree_ = disk_.freeBytes();
  take(master::SpaceMeasured{toldFree_});
}

void MasterProcess::crash() {
  world_.note(name_, "dies");
  // It has been told more than any store has.
  if (alive()) expectNone(serverProblems(*logic_));
  storage().crash();
  commits_.clear();
  leaving_.clear();
  logic_.reset();
  oomKiller_.callOff();
  timer_.clear();
  requests_.clear();
  uploads_.clear();
  for (auto& [request, answer] : std::exchange(asked_, {})) answer(kDeadMaster);
  sessions_.clear();
  unnoticed_.clear();
  for (Connection* connection : connections_) connection->masterDied(*this);
}

// --- Backups ----------------------------------------------------------------------------------------------

void MasterProcess::takeBackup() {
  world_.note(name_, "is backed up");
  backup_ = Backup{checked_.store, checked_.ledger, checked_.checker.picture()};
}

void MasterProcess::restoreBackup() {
  world_.note(name_, "gets its backup back");
  MemoryStore& store = checked_.store;
  store = backup_->store;
  checked_.ledger = backup_->ledger;
  checked_.checker.backupRestored(backup_->picture);
  const auto changes = changesOfRestore(*store.load(), clock_.now().wall, world_.rng());
  if (!changes.ok()) return world_.violated("the backup cannot be restored: " + changes.error().message);
  if (!store.write(*changes)) world_.violated("the disk failed");
  checked_.checker.stored(*changes);
  tasks_.backupRestored(store.load()->cluster->nextAllocation);
}

// --- What comes -------------------------------------------------------------------------------------------

void MasterProcess::attachAgent(const Way& way, std::string name, uint64_t epoch, AgentSinks sinks) {
  if (!alive()) return;
  const SessionId session = way->session();
  const RequestId request = world_.nextNumber();
  sessions_[session] = {way, std::move(sinks), {}, false, name, 0};
  requests_[request] = session;
  take(master::AgentAttached{request, session, name, epoch, name});
}

void MasterProcess::attachMonitor(const Way& way, std::string name, std::vector<ServerFacts> servers,
                                  std::vector<KnownTask> tasks, MonitorSinks sinks) {
  if (!alive()) return;
  const SessionId session = way->session();
  const RequestId request = world_.nextNumber();
  sessions_[session] = {way, {}, std::move(sinks), false, name, 0};
  requests_[request] = session;
  take(master::MonitorAttached{request, session, std::move(name), std::move(servers), std::move(tasks)});
}

void MasterProcess::attachMore(SessionId session, std::vector<ServerFacts> servers,
                               std::vector<KnownTask> tasks) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  take(master::MoreServersAttached{request, session, std::move(servers), std::move(tasks)});
}

void MasterProcess::moreJobs(SessionId session) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  take(master::MoreJobsAsked{request, session});
}

void MasterProcess::detach(SessionId session) {
  if (sessions_.erase(session) > 0) take(master::PeerDetached{session});
}

void MasterProcess::commit(SessionId session, Commit commit, Copy copy) {
  const RequestId request = world_.nextNumber();
  if (copy == Copy::kFirst) {
    requests_[request] = session;
    commits_[request] = commit;
  }
  take(master::CommitArrived{request, session, std::move(commit)});
}

void MasterProcess::piece(SessionId session, const agent::SendPiece& piece) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  uploads_[request] = piece.upload;
  take(master::PieceArrived{request, session, piece.job, piece.user, piece.bytes, piece.number, piece.files});
}

void MasterProcess::declineOffers(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried) {
  take(master::OffersDeclined{session, std::move(jobs), std::move(untried)});
}

void MasterProcess::renewLease(SessionId session, std::vector<AllocationId> starting) {
  const RequestId request = world_.nextNumber();
  requests_[request] = session;
  take(master::LeaseAsked{request, session, std::move(starting)});
}

void MasterProcess::report(SessionId session, std::vector<TaskReport> reports, Copy copy) {
  const RequestId request = world_.nextNumber();
  if (copy == Copy::kFirst) requests_[request] = session;
  take(master::ReportsArrived{request, session, std::move(reports)});
}

void MasterProcess::resized(SessionId session, AllocationId allocation, std::vector<RuIndex> rus,
                            Status status) {
  take(master::TaskResized{session, allocation, std::move(rus), std::move(status)});
}

void MasterProcess::throttled(SessionId session, AllocationId allocation, const Throttle& throttle,
                              Status status) {
  take(master::TaskThrottled{session, allocation, throttle, std::move(status)});
}

void MasterProcess::violations(SessionId session, std::vector<Violation> violations) {
  take(master::ViolationsReported{session, std::move(violations)});
}

void MasterProcess::pressure(SessionId session, std::vector<ServerPressure> servers) {
  take(master::PressureReported{session, std::move(servers)});
}

void MasterProcess::poolReport(SessionId session, const std::string& server, const late::PoolReport& report,
                               Copy copy) {
  const RequestId request = world_.nextNumber();
  if (copy == Copy::kFirst) requests_[request] = session;
  take(master::PoolReported{request, session, {{server, report}}});
}

void MasterProcess::ask(const Request& request, Answer answer) {
  if (!accepts()) return answer(kDeadMaster);
  const RequestId number = world_.nextNumber();
  asked_[number] = std::move(answer);
  take(request(number));
}

void MasterProcess::take(const master::Event& event) {
  if (!alive()) return;
  if (isPaused()) return etcd_->whenItRuns([this, event] { take(event); });
  world_.event(name_, [&event] { return text(event); });
  std::vector<master::Action> actions;
  logic_->handle(event, clock_.now(), rng_, actions);
  for (const master::Action& action : actions) {
    if (const auto* server = std::get_if<master::PublishServer>(&action)) noteReach(event, *server);
  }
  noteTaken(event, actions);
  carryOut(std::move(actions));
  if (!oomKiller_.strikes(storage().waiting(), world_.now().steady)) return;
  crash();
  stopped_();
}

// A server whose monitor is about to leave takes nothing, and is in reach until its session ends.
void MasterProcess::noteReach(const master::Event& event, const master::PublishServer& server) {
  if (!leadsInTruth()) return;
  const std::string& name = logic_->facts(server.update.id)->name;
  if (server.update.status.up) {
    leaving_.erase(name);
    return checked_.checker.serverIsUp(name);
  }
  if (std::holds_alternative<master::MonitorLeaves>(event)) leaving_.insert(name);
  const bool endsSessions = std::holds_alternative<master::PeerDetached>(event) ||
                            std::holds_alternative<master::MonitorAttached>(event);
  if (endsSessions) leaving_.erase(name);
  if (!leaving_.contains(name)) checked_.checker.serverIsDown(name, clock_.now().steady);
}

void MasterProcess::noteTaken(const master::Event& event, const std::vector<master::Action>& actions) {
  const auto* arrived = std::get_if<master::CommitArrived>(&event);
  if (arrived == nullptr || !arrived->commit.newJob || toldFree_ >= options_.diskReserve) return;
  for (const master::Action& action : actions) {
    const auto* persist = std::get_if<master::Persist>(&action);
    const auto* put = persist == nullptr ? nullptr : std::get_if<Put>(&persist->mutation);
    const auto* job = put == nullptr ? nullptr : std::get_if<JobRecord>(&put->record);
    if (job == nullptr || job->id != arrived->commit.job) continue;
    world_.violated("job " + toString(job->id).substr(0, 8) + " is taken, and the disk is nearly full");
  }
}

// Durable before visible: what leaves waits until everything persisted before it is synced, in order.
void MasterProcess::carryOut(std::vector<master::Action> actions) {
  const MonotonicTime now = clock_.now().steady;
  // What another master is about to hear of later is nobody's decision.
  const bool isTruth = leadsInTruth();
  std::vector<master::Action> outputs;
  for (master::Action& action : actions) {
    if (auto* persist = std::get_if<master::Persist>(&action)) {
      if (isTruth) checked_.checker.decided(persist->mutation, now);
      storage().persist(std::move(persist->mutation));
    } else if (const auto* wake = std::get_if<master::WakeAt>(&action)) {
      timer_.set(wake->when);
    } else {
      outputs.push_back(std::move(action));
    }
  }
  for (master::Action& output : outputs) storage().afterSync(std::move(output));
}

void MasterProcess::stored(const std::vector<Mutation>& batch) {
  for (const Mutation& mutation : batch) {
    if (const auto* erased = std::get_if<EraseJob>(&mutation)) checked_.ledger.forget(erased->job);
  }
  checked_.checker.stored(batch);
  for (const Mutation& mutation : batch) {
    const auto* put = std::get_if<Put>(&mutation);
    const auto* job = put == nullptr ? nullptr : std::get_if<JobRecord>(&put->record);
    if (job != nullptr) checkFiles(*job);
  }
}

void MasterProcess::checkFiles(const JobRecord& job) {
  const auto state = checked_.checker.stateOf(job.id);
  if (!state || isFinal(*state) || sizeOf(*checked_.store.files(job.id)) == job.fileBytes) return;
  world_.violated("job " + toString(job.id).substr(0, 8) + " is stored without its input files");
}

void MasterProcess::writeFailed() {
  world_.note(name_, etcd_ ? "does not lead any more" : "cannot write");
  crash();
  stopped_();
}

void MasterProcess::expectNone(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) world_.violated(problem);
}

// --- What leaves ------------------------------------------------------------------------------------------

void MasterProcess::release(const master::Action& action) {
  if (etcd_ && etcd_->isFollowed()) {
    world_.violated(name_ + " tells something, and another master has led since");
  }
  if (const auto* attached = std::get_if<master::AnswerAgentAttached>(&action)) {
    finishAttaching(sessionOf(attached->request), *attached);
  } else if (const auto* more = std::get_if<master::AnswerMoreJobs>(&action)) {
    const SessionId session = sessionOf(more->request);
    if (more->told) takeJobs(session, *more->told);
  } else if (const auto* monitor = std::get_if<master::AnswerMonitorAttached>(&action)) {
    release(*monitor);
  } else if (const auto* commit = std::get_if<master::AnswerCommit>(&action)) {
    release(*commit);
  } else if (const auto* piece = std::get_if<master::AnswerPiece>(&action)) {
    send(sessionOf(piece->request),
         agent::PieceAnswered{uploads_.extract(piece->request).mapped(), piece->isThere});
  } else if (const auto* reports = std::get_if<master::AnswerReports>(&action)) {
    const SessionId session = sessionOf(reports->request);
    if (!reports->status) return refuse(session);
    send(session, monitor::ReportsAcknowledged{});
  } else if (const auto* lease = std::get_if<master::AnswerLease>(&action)) {
    const SessionId session = sessionOf(lease->request);
    if (!lease->refused.ok()) return refuse(session);
    send(session, monitor::LeaseRenewed{*lease->refused});
  } else if (const auto* answer = std::get_if<master::Answer>(&action)) {
    const auto asked = asked_.extract(answer->request);
    if (!asked.empty()) asked.mapped()(answer->status);
  } else if (const auto* server = std::get_if<master::PublishServer>(&action)) {
    release(*server);
  } else if (const auto* settings = std::get_if<master::PublishSettings>(&action)) {
    publish(news_->take(*settings, clock_.now().steady));
  } else if (const auto* platform = std::get_if<master::PublishPlatform>(&action)) {
    publish(news_->take(*platform, clock_.now().steady));
  } else if (const auto* end = std::get_if<master::EndAgent>(&action)) {
    const auto found = sessions_.find(end->session);
    if (found != sessions_.end()) found->second.way->toPeer(found->second.agent.superseded);
  } else if (const auto* job = std::get_if<master::AssignJob>(&action)) {
    send(job->session, agent::JobAssigned{job->assignment});
  } else if (const auto* queue = std::get_if<master::PublishQueue>(&action)) {
    publish(news_->take(*queue));
  } else if (const auto* offers = std::get_if<master::OfferJobs>(&action)) {
    send(offers->session, news_->offers(*offers, clock_.now().steady));
  } else if (const auto* stop = std::get_if<master::StopTask>(&action)) {
    send(stop->session, monitor::StopArrived{stop->allocation});
  } else if (const auto* resize = std::get_if<master::ResizeTask>(&action)) {
    send(resize->session, monitor::ResizeArrived{world_.nextNumber(), resize->allocation, resize->rus});
  } else if (const auto* throttle = std::get_if<master::ThrottleTask>(&action)) {
    send(throttle->session,
         monitor::ThrottleArrived{world_.nextNumber(), throttle->allocation, throttle->throttle});
  } else if (const auto* pools = std::get_if<master::AnswerPools>(&action)) {
    const SessionId session = sessionOf(pools->request);
    if (!pools->answers) return;  // the session is over
    for (const auto& [server, answer] : *pools->answers) send(session, PoolNews{server, answer});
  } else if (const auto* limit = std::get_if<master::LimitPool>(&action)) {
    send(limit->session, PoolNews{limit->server, limit->limit});
  } else if (const auto* changed = std::get_if<master::JobChanged>(&action)) {
    if (changed->finished) finished_(changed->job, *checked_.checker.stateOf(changed->job));
  }
}

void MasterProcess::release(const master::AnswerMonitorAttached& answer) {
  const SessionId session = sessionOf(answer.request);
  if (answer.status) return send(session, monitor::MasterAttached{answer.drop, answer.stop, answer.lease});
  // Where a machine came back without its memory, and the master has not missed the one that it was.
  if (answer.status.error().code != ErrorCode::kConflict) {
    world_.violated("a monitor was refused: " + answer.status.error().message);
  }
  refuse(session);
}

void MasterProcess::release(const master::AnswerCommit& answer) {
  const SessionId id = sessionOf(answer.request);
  const auto commit = commits_.extract(answer.request);
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  if (answer.answer.outcome != CommitAnswer::Outcome::kSuperseded) {
    const Session& to = session->second;
    expectNone(checked_.ledger.noteAnswer(to.name, to.epoch, commit.mapped(), answer.answer));
  }
  send(id, agent::CommitAnswered{answer.answer});
}

void MasterProcess::release(const master::PublishServer& server) {
  const agent::ServersUpdated news = news_->take(server, clock_.now().steady);
  for (const auto& [id, session] : sessions_) {
    if (!session.subscribed) continue;
    if (spoilt_.erase(session.name) > 0) {
      unnoticed_.insert(id);
    } else {
      send(id, news);
    }
  }
  if (++publications_ % kPublicationsBetweenChecksums == 0) compareCopies();
}

void MasterProcess::compareCopies() {
  if (alive()) publish(agent::ChecksumTold{news_->checksum()});
}

std::optional<WaitEstimate> MasterProcess::waitOf(const JobId& job) const {
  const Now now = clock_.now();
  const auto waiting = logic_->waitingJob(job, now.wall);
  if (!waiting) return std::nullopt;
  return news_->waitOf(*waiting, now.steady);
}

void MasterProcess::refuse(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.way->toPeer(found->second.monitor.refused);
}

void MasterProcess::finishAttaching(SessionId session, const master::AnswerAgentAttached& answer) {
  if (!answer.epoch) return world_.violated("an agent was refused: " + answer.epoch.error().message);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.epoch = *answer.epoch;
  found->second.attaching.emplace();
  takeJobs(session, answer.told);
}

// The agent asks for more until it has them all. What it is told meanwhile waits for that, as it does there.
void MasterProcess::takeJobs(SessionId id, const master::AgentJobs& told) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.attaching) return;
  Session& session = found->second;
  const bool isFirst = !std::exchange(session.attaching->hasBegun, true);
  const agent::Event listed = isFirst
                                  ? agent::Event(agent::MasterAttached{session.epoch, told.jobs, told.more})
                                  : agent::Event(agent::JobsTold{told.jobs, told.more});
  session.way->toPeer([sink = session.agent.events, listed] { sink(listed); });
  if (told.more) return session.way->toPeer(session.agent.asksForMore);
  const Attaching attached = *std::exchange(session.attaching, std::nullopt);
  sendSnapshot(id);
  for (const agent::Event& event : attached.early) send(id, event);
}

// The agent found that its copy differs.
void MasterProcess::askSnapshot(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !found->second.subscribed) return;
  if (unnoticed_.erase(session) == 0) {
    world_.violated(found->second.name + "'s copy of the state differs from the master's");
  }
  sendSnapshot(session);
}

void MasterProcess::sendSnapshot(SessionId session) {
  for (const agent::Event& event : news_->snapshot()) send(session, event);
  sessions_.at(session).subscribed = true;
  unnoticed_.erase(session);
}

void MasterProcess::publish(const agent::Event& event) {
  for (const auto& [id, session] : sessions_) {
    if (session.subscribed) send(id, event);
  }
}

void MasterProcess::send(SessionId session, agent::Event event) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (auto& attaching = found->second.attaching) return attaching->early.push_back(std::move(event));
  found->second.way->toPeer([sink = found->second.agent.events, event = std::move(event)] { sink(event); });
}

void MasterProcess::send(SessionId session, monitor::Event event) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const auto message = [sink = found->second.monitor.events, event] { sink(event); };
  if (std::holds_alternative<monitor::StopArrived>(event)) {
    found->second.way->toPeer(message, message);
  } else {
    found->second.way->toPeer(message);
  }
}

void MasterProcess::send(SessionId session, PoolNews news) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.way->toPeer([sink = found->second.monitor.pools, news = std::move(news)] { sink(news); });
}

// 0, which is no session, where the request came by a connection that is gone.
SessionId MasterProcess::sessionOf(RequestId request) {
  const auto found = requests_.extract(request);
  return found.empty() ? 0 : found.mapped();
}

}  // namespace tarcil::sim
