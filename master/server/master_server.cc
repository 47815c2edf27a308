#include "master/server/master_server.h"

#include <kj/debug.h>
#include <spdlog/spdlog.h>

#include <set>

#include "core/base/text.h"
#include "core/base/units.h"
#include "env/failpoint.h"
#include "env/loop_step.h"
#include "env/stop.h"
#include "env/time_zone.h"
#include "identity/certificates.h"
#include "identity/logic/token_text.h"
#include "master/logic/outbox.h"
#include "master/logic/people/people.h"
#include "master/logic/read_only.h"
#include "master/server/secret_keeper.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// Long before a reserve of any use can be filled.
constexpr auto kMeasurePeriod = 1 * kj::SECONDS;
// A token that expires lets somebody in for so much longer at most.
constexpr auto kTokensPeriod = 200 * kj::MILLISECONDS;

// What an answer needs to get into the kernel.
constexpr auto kAnswersLeave = 20 * kj::MILLISECONDS;

constexpr Duration kLeastTokenLife = std::chrono::seconds(1);
constexpr Duration kMostTokenLife = std::chrono::days(90);

template <typename T>
T valueOrThrow(Result<T>&& result) {
  if (!result.ok()) kj::throwFatalException(toException(result.error()));
  return std::move(result.value());
}

}  // namespace

MasterServer::MasterServer(Net net, const Clock& clock, Rng rng, Store& store, StoreContents contents,
                           TokenTable tokens, const MasterOptions& options,
                           kj::Function<void(const Error&)> failed, AuditTrail* trail)
    : timer_(net.timer),
      security_(net.security),
      secrets_(std::make_unique<SecretKeeper>(*this)),
      clock_(clock),
      rng_(rng),
      store_(store),
      tokens_(std::move(tokens)),
      trail_(trail),
      gate_(
          net.timer, store, clock, kj::mv(failed),
          [this](const WrittenBatch& batch) { metrics_.count(batch); }, trail),
      backups_(store),
      changeLog_(Rng(rng)() | 1),
      alarm_(net.timer, clock, [this]() { dispatch(master::TimerFired{}); }) {
  std::vector<master::Action> actions;
  logic_ = std::make_unique<MasterLogic>(options, std::move(contents), clock_.now(), rng_, actions,
                                         systemTimeZones());
  if (const Duration gap = logic_->doubtfulGap(); gap > Duration::zero()) {
    spdlog::warn(
        "the last job was submitted or ended {} before this start: is the clock right? Finished jobs that "
        "are too "
        "old by it are erased in an hour",
        formatDuration(std::chrono::floor<std::chrono::hours>(gap)));
  }
  survey_ = std::make_unique<SurveyMetrics>(*logic_, timer_, clock_, metrics_);
  published_ = std::make_unique<PublishedState>(logic_->snapshot(), logic_->settings(), logic_->platforms());
  for (const Usage& usage : logic_->usage({"", Role::kOperate, {}})) {
    if (usage.shares != 1) published_->take(master::PublishShares{usage.user, usage.shares});
  }
  forecast_ = std::make_unique<Forecast>(*published_, clock_.now().steady,
                                         ForecastOptions{options.buckets, options.admission});
  carryOut(actions);
  if (security_ != nullptr) security_->setRevoked(logic_->members().revokedSerials());
  watchingDisk_ = watchDisk().eagerlyEvaluate(stopsIfFailed("the watch over the store's disk"));
  tokensLooked_ = clock_.now().wall;
  watchingTokens_ = watchTokens().eagerlyEvaluate(stopsIfFailed("the watch over tokens"));
}

MasterServer::~MasterServer() noexcept(false) {
  fairCalls_->stop();
}

Result<Caller> MasterServer::callerOf(const LoginProof& shown) const {
  const PeopleTable& people = logic_->people();
  if (const auto* vouched = std::get_if<VouchedUser>(&shown))
    return master::vouchedFor(people, logic_->options().vouching, vouched->agent, vouched->name);
  const std::string& token = std::get<ShownToken>(shown).text;
  const auto id = tokenIdOf(token);
  auto caller = tokens_.check(token);
  if (caller.ok() || !id) return caller;
  return people.holderOf(*id, digestOf(token), clock_.now().wall);
}

void MasterServer::setTokens(TokenTable tokens) {
  tokens_ = std::move(tokens);
  logins_.lookAtAll();
}

kj::Promise<void> MasterServer::watchTokens() {
  const WallTime now = clock_.now().wall;
  for (const std::string& user : logic_->people().expiring(tokensLooked_, now)) logins_.look(user);
  tokensLooked_ = now;
  return timer_.afterDelay(kTokensPeriod).then([this]() { return watchTokens(); });
}

kj::Promise<void> MasterServer::watchDisk() {
  measureSpace();
  noticeHangingDisk();
  return timer_.afterDelay(kMeasurePeriod).then([this]() { return watchDisk(); });
}

void MasterServer::noticeHangingDisk() {
  switch (disk_.look(gate_.batches(), gate_.isWriting())) {
    case StallDetector::News::kNone:
      return;
    case StallDetector::News::kStalled:
      spdlog::warn(
          "the store's disk has not answered for {} s: what is to be stored waits, and who waits for it, "
          "until it does",
          StallDetector::kLooksUntilStalled);
      return;
    case StallDetector::News::kGoesOn:
      spdlog::info("the store's disk goes on");
  }
}

void MasterServer::measureSpace() {
  const auto space = store_.space();
  if (!space.ok()) {
    spdlog::warn("{}", space.error().message);
    return;
  }
  const bool wasLow = !logic_->warning().empty();
  storeBytes_ = space->used;
  dispatch(master::SpaceMeasured{space->free});
  const std::string warning = logic_->warning();
  if (!warning.empty() && !wasLow) spdlog::warn("{}; new jobs are refused", warning);
  if (warning.empty() && wasLow) spdlog::info("the store's disk has room again; new jobs are taken");
}

kj::Promise<MasterServer::AttachedAgent> MasterServer::attachAgent(SessionId session, std::string agent,
                                                                   uint64_t epoch, std::string address,
                                                                   wire::AgentFeed::Client feed) {
  auto pending = agentsAttaching_.add();
  feedsToCome_.insert_or_assign(pending.number, FeedToCome{session, agent, kj::mv(feed)});
  spdlog::info("agent {} at {} attaches (session {}, epoch {})", agent, address, session, epoch);
  dispatch(master::AgentAttached{pending.number, session, std::move(agent), epoch, std::move(address)});
  return pending.promise.then([](Result<AttachedAgent>&& result) { return valueOrThrow(std::move(result)); });
}

kj::Promise<master::AgentJobs> MasterServer::moreJobs(SessionId session) {
  auto pending = moreJobs_.add();
  dispatch(master::MoreJobsAsked{pending.number, session});
  return pending.promise.then([](Result<master::AgentJobs>&& told) { return valueOrThrow(std::move(told)); });
}

kj::Promise<JobNumber> MasterServer::leaseNumbers(SessionId session, uint32_t count) {
  auto pending = numbers_.add();
  dispatch(master::NumbersAsked{pending.number, session, count});
  return pending.promise.then([](Result<JobNumber>&& first) { return valueOrThrow(std::move(first)); });
}

kj::Promise<MasterServer::AttachedMonitor> MasterServer::attachMonitor(SessionId session, std::string monitor,
                                                                       std::vector<ServerFacts> servers,
                                                                       std::vector<KnownTask> tasks,
                                                                       wire::MonitorControl::Client control) {
  auto pending = monitorsAttaching_.add();
  const MacKey key = makeMacKey();
  monitors_.insert_or_assign(
      session, Monitor{std::make_unique<ControlSender>(
                           timer_, kj::mv(control),
                           [this, session](const Error& error) { endSession(session, "monitor", error); }),
                       key});
  if (const auto revoked = logic_->members().revokedSerials(); !revoked.empty()) {
    tellRevoked(session, "monitor", monitors_.at(session).control->tellRevoked(revoked));
  }
  spdlog::info("monitor {} of {} attaches with {} servers and {} tasks (session {})", monitor,
               servers.empty() ? "no server" : servers.front().name, servers.size(), tasks.size(), session);
  dispatch(master::MonitorAttached{pending.number, session, std::move(monitor), std::move(servers),
                                   std::move(tasks)});
  return pending.promise.then([key](Result<AttachedMonitor>&& result) {
    AttachedMonitor attached = valueOrThrow(std::move(result));
    attached.ticketKey = key;
    return attached;
  });
}

kj::Promise<MasterServer::AttachedMonitor> MasterServer::attachMore(SessionId session,
                                                                    std::vector<ServerFacts> servers,
                                                                    std::vector<KnownTask> tasks) {
  auto pending = monitorsAttaching_.add();
  dispatch(master::MoreServersAttached{pending.number, session, std::move(servers), std::move(tasks)});
  return pending.promise.then(
      [](Result<AttachedMonitor>&& result) { return valueOrThrow(std::move(result)); });
}

std::string MasterServer::ticketFor(AllocationId allocation, const std::string& agent) const {
  const auto launching = logic_->launching(allocation);
  if (!launching || launching->agent != agent) return "";
  const auto monitor = monitors_.find(launching->monitor);
  return monitor == monitors_.end() ? "" : tarcil::ticketFor(launching->launch, monitor->second.ticketKey);
}

LateGrant MasterServer::lateGrant(const std::string& agent, const std::string& user,
                                  const std::string& runAs) const {
  return signedGrant({agent, user, runAs, clock_.now().wall + kLateGrantLife}, grantKey_);
}

void MasterServer::detach(SessionId session) {
  std::erase_if(feedsToCome_, [session](const auto& entry) { return entry.second.session == session; });
  feeds_.erase(session);
  monitors_.erase(session);
  dispatch(master::PeerDetached{session});
}

// A peer that was not told something would wait for it for ever: without its session it has to attach anew,
// and is told everything then.
void MasterServer::endSession(SessionId session, const char* role, const Error& error) {
  spdlog::warn("a message to the {} of session {} failed: {}; the session ends", role, session,
               error.message);
  // What failed is still running.
  later_.add(kj::evalLater([this, session]() { detach(session); }));
}

kj::Promise<CommitAnswer> MasterServer::commit(SessionId session, Commit commit, std::string mayNot,
                                               audit::Requester by) {
  auto pending = commits_.add();
  failpoint("master.commit_arrived");
  dispatch(
      master::CommitArrived{pending.number, session, std::move(commit), std::move(by), std::move(mayNot)});
  return kj::mv(pending.promise);
}

kj::Promise<bool> MasterServer::takePiece(master::PieceArrived piece) {
  auto pending = pieces_.add();
  piece.request = pending.number;
  waitingPieces_.push_back(std::move(piece));
  takeNextPiece();
  return pending.promise.then([](Result<bool>&& isThere) { return valueOrThrow(std::move(isThere)); });
}

void MasterServer::takeNextPiece() {
  if (waitingPieces_.empty() || std::exchange(isTakingPiece_, true)) return;
  const master::PieceArrived piece = std::move(waitingPieces_.front());
  waitingPieces_.pop_front();
  failpoint("master.piece_arrived");
  dispatch(piece);
}

void MasterServer::declineOffers(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried) {
  dispatch(master::OffersDeclined{session, std::move(jobs), std::move(untried)});
}

kj::Promise<std::vector<AllocationId>> MasterServer::renewLease(SessionId session,
                                                                std::vector<AllocationId> starting) {
  auto pending = leases_.add();
  dispatch(master::LeaseAsked{pending.number, session, std::move(starting)});
  return pending.promise.then(
      [](Result<std::vector<AllocationId>>&& refused) { return valueOrThrow(std::move(refused)); });
}

kj::Promise<void> MasterServer::report(SessionId session, std::vector<TaskReport> reports) {
  auto pending = others_.add();
  failpoint("master.report_arrived");
  dispatch(master::ReportsArrived{pending.number, session, std::move(reports)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

void MasterServer::violations(SessionId session, std::vector<Violation> violations) {
  failpoint("master.violations_arrived");
  const std::set<ServerId> servers = serversOf(violations);
  dispatch(master::ViolationsReported{session, std::move(violations)});
  for (const ServerId server : servers) noteChange(server);
}

void MasterServer::performance(SessionId session, std::vector<PerformanceSample> samples) {
  const std::set<ServerId> servers = serversOf(samples);
  dispatch(master::PerformanceReported{session, std::move(samples)});
  for (const ServerId server : servers) noteChange(server);
}

template <typename Told>
std::set<ServerId> MasterServer::serversOf(const std::vector<Told>& told) const {
  std::set<ServerId> servers;
  for (const Told& each : told) {
    if (const auto server = logic_->serverOf(each.allocation)) servers.insert(*server);
  }
  return servers;
}

void MasterServer::pressure(SessionId session, std::vector<ServerPressure> servers,
                            std::vector<late::PoolPressure> pools) {
  dispatch(master::PressureReported{session, std::move(servers), std::move(pools)});
}

kj::Promise<std::vector<master::PoolAnswerOf>> MasterServer::reportPools(
    SessionId session, std::vector<master::PoolReportOf> reports) {
  auto pending = pools_.add();
  dispatch(master::PoolReported{pending.number, session, std::move(reports)});
  return pending.promise.then(
      [](Result<std::vector<master::PoolAnswerOf>>&& answers) { return valueOrThrow(std::move(answers)); });
}

kj::Promise<void> MasterServer::cancel(const JobId& job, const Caller& caller, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::CancelRequested{pending.number, job, caller, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::setSettings(const QualitySettings& settings, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::SettingsSet{pending.number, settings, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::setPlatform(const std::string& platform, const Share& share,
                                            audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::PlatformSet{pending.number, platform, share, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::setShares(const std::string& user, uint32_t shares, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::SharesSet{pending.number, user, shares, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::storeProfile(const Caller& caller, Profile profile, std::string note,
                                             audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::ProfileStored{pending.number, caller, std::move(profile), std::move(note), std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::deleteProfile(const Caller& caller, std::string application, std::string user,
                                              audit::Requester by) {
  auto pending = others_.add();
  dispatch(
      master::ProfileDeleted{pending.number, caller, std::move(application), std::move(user), std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::addCron(const Caller& caller, CronSpec cron, bool replaces,
                                        audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::CronAdded{pending.number, caller, std::move(cron), replaces, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::steerCron(master::CronSteered event) {
  auto pending = others_.add();
  event.request = pending.number;
  dispatch(event);
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::promoteProfile(const Caller& caller, std::string application,
                                               std::string user, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::ProfilePromoted{pending.number, caller, std::move(application), std::move(user),
                                   std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::steerJob(const JobId& job, master::JobChange change, uint8_t priority,
                                         const Caller& caller, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::JobSteered{pending.number, caller, job, change, priority, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::steerServers(std::vector<std::string> servers, master::ServerChange change,
                                             Duration deadline, const Caller& caller, audit::Requester by) {
  auto pending = others_.add();
  dispatch(
      master::ServersSteered{pending.number, caller, std::move(servers), change, deadline, std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<MemberRecord> MasterServer::changeMembers(master::MemberChange change, audit::Requester by) {
  auto pending = members_.add();
  dispatch(master::MembersChanged{pending.number, std::move(change), std::move(by)});
  return pending.promise.then([](Result<MemberRecord>&& member) { return valueOrThrow(std::move(member)); });
}

kj::Promise<void> MasterServer::changePeople(master::PeopleChange change, audit::Requester by) {
  auto pending = others_.add();
  std::string user = by.user;
  dispatch(master::PeopleChanged{pending.number, std::move(change), std::move(user), tokens_.hasOperator(),
                                 std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MasterServer::changeSecrets(master::SecretChange change, audit::Requester by) {
  auto pending = others_.add();
  dispatch(master::SecretsChanged{pending.number, std::move(change), std::move(by)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<std::vector<SecretRecord>> MasterServer::askSecrets(SessionId session, AllocationId allocation,
                                                                std::string address) {
  auto pending = secretsAsked_.add();
  dispatch(master::SecretsAsked{pending.number, session, allocation, std::move(address)});
  return pending.promise.then(
      [](Result<std::vector<SecretRecord>>&& secrets) { return valueOrThrow(std::move(secrets)); });
}

kj::Promise<MasterServer::NewToken> MasterServer::makeToken(const std::string& user, Duration life,
                                                            const Caller& caller, audit::Requester by) {
  if (life < kLeastTokenLife || life > kMostTokenLife) {
    return toException(invalid("ttl: " + formatDuration(life) + " is out of range; write " +
                               formatDuration(kLeastTokenLife) + " to " + formatDuration(kMostTokenLife)));
  }
  const UserRecord* known = logic_->people().user(user);
  if (known == nullptr && user != caller.user) {
    return toException(
        invalid("user: there is no user " + shown(user) + "; add them first: tarcil user add " + user));
  }
  const Caller holder = known != nullptr ? tarcil::callerOf(*known) : caller;
  NewToken made{.text = {}, .id = makeTokenId(), .until = clock_.now().wall + life};
  made.text = tokenText(made.id, makeTokenSecret());
  TokenRecord record{.id = made.id,
                     .digest = digestOf(made.text),
                     .user = user,
                     .role = holder.role,
                     .runAs = holder.runAs,
                     .made = clock_.now().wall,
                     .until = made.until,
                     .madeBy = caller.user};
  return changePeople(master::TokenAdded{std::move(record)}, std::move(by))
      .then([made = std::move(made)]() mutable { return std::move(made); });
}

void MasterServer::tellRevoked(SessionId session, const char* role, kj::Promise<void> told) {
  later_.add(told.catch_([this, session, role](kj::Exception&& exception) {
    // One of an earlier version has no certificate to look at; one that is gone is told when it attaches.
    using Type = kj::Exception::Type;
    if (exception.getType() == Type::UNIMPLEMENTED || exception.getType() == Type::DISCONNECTED) return;
    endSession(session, role, fromException(exception));
  }));
}

kj::Promise<void> MasterServer::backup(std::string folder) {
  if (logic_->isReadOnly()) return toException(master::readOnlyError());
  return synced().then([this, folder = std::move(folder)]() mutable {
    spdlog::info("backs the store up to {}", folder);
    return backups_.take(std::move(folder));
  });
}

kj::Promise<void> MasterServer::stepDown(uint64_t term) {
  if (stepDown_ == nullptr) {
    return toException(
        invalid("this cluster has one master, whose store is in a folder: no other one can lead; "
                "docs/masters.md says "
                "how several do"));
  }
  if (term != standing_.term) return kj::READY_NOW;
  spdlog::info("steps down, as an operator asks for");
  return synced().then([this]() {
    later_.add(timer_.afterDelay(kAnswersLeave).then([this]() {
      KJ_IF_MAYBE (act, stepDown_) {
        (*act)();
      }
    }));
  });
}

kj::Promise<std::string> MasterServer::metrics() {
  return survey_->refresh().then([this]() { return metricsNow(); });
}

kj::Promise<std::string> MasterServer::metricsNow() {
  const MonotonicTime now = clock_.now().steady;
  std::map<std::string, MasterMetrics::Feed> feeds;
  for (const auto& [session, feed] : feeds_) feeds[feed->agent()] = {feed->behind(now), feed->pending()};
  metrics_.show(logic_->load(), published_->counts(), storeBytes_, feeds);
  return synced().then([text = metrics_.set.text() + survey_->text()]() mutable { return std::move(text); });
}

std::map<std::string, Duration> MasterServer::behind() const {
  const MonotonicTime now = clock_.now().steady;
  std::map<std::string, Duration> behind;
  for (const auto& [session, feed] : feeds_) behind[feed->agent()] = feed->behind(now);
  return behind;
}

WallTime MasterServer::expectedStart(const WaitingJob& job) {
  return forecast_->startOf(job.spec, job.slots, job.slotsAhead, clock_.now());
}

std::optional<Duration> MasterServer::boundToTell(const master::JobOffer& offer) {
  if (!offer.slotsAhead) return std::nullopt;
  const auto need = logic_->need(offer.job);
  if (!need) return std::nullopt;
  return forecast_->boundOf(*need->spec, need->slots, *offer.slotsAhead, clock_.now().steady);
}

kj::Promise<void> MasterServer::synced() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  gate_.afterSync([fulfiller = kj::mv(paf.fulfiller)]() mutable { fulfiller->fulfill(); });
  return kj::mv(paf.promise);
}

kj::Promise<void> MasterServer::jobChanged(const JobId& job, const Caller& caller) {
  if (logic_->isReadOnly()) return toException(master::readOnlyError());
  return jobWatchers_.add(job, caller.user);
}

kj::Promise<void> MasterServer::serverChanged(ServerId server, const Caller& caller) {
  if (logic_->isReadOnly()) return toException(master::readOnlyError());
  return serverWatchers_.add(server, caller.user);
}

kj::Promise<void> MasterServer::somethingChanged(const Caller& caller) {
  if (logic_->isReadOnly()) return toException(master::readOnlyError());
  return changeWatchers_.add({}, caller.user);
}

void MasterServer::dispatch(const master::Event& event) {
  const LoopStep step("the master's decisions");
  // Half of an event, in memory and not on disk, is worse than a start from what is there.
  runOrStop("handling an event", [this, &event]() {
    std::vector<master::Action> actions;
    actions.reserve(master::kUsualActions);
    logic_->handle(event, clock_.now(), rng_, actions);
    carryOut(actions);
  });
}

// Everything an event persists goes into the batch first: whatever leaves because of the event has seen all
// of it.
void MasterServer::carryOut(std::vector<master::Action>& actions) {
  for (auto& action : actions) {
    if (auto* persist = std::get_if<master::Persist>(&action)) gate_.persist(std::move(persist->mutation));
    if (auto* audited = std::get_if<master::Audit>(&action)) gate_.audit(std::move(audited->entry));
    if (auto* wake = std::get_if<master::WakeAt>(&action)) alarm_.set(wake->when);
  }
  for (auto& action : actions) {
    if (std::holds_alternative<master::Persist>(action) || std::holds_alternative<master::Audit>(action) ||
        std::holds_alternative<master::WakeAt>(action)) {
      continue;
    }
    gate_.afterSync([this, action = std::move(action)]() mutable {
      std::visit([this](auto& concrete) { release(concrete); }, action);
    });
  }
}

void MasterServer::release(master::AnswerAgentAttached& action) {
  auto attaching = feedsToCome_.extract(action.request);
  if (!action.epoch.ok()) {
    agentsAttaching_.fulfill(action.request, action.epoch.error());
    return;
  }
  agentsAttaching_.fulfill(action.request, AttachedAgent{action.epoch.value(), std::move(action.told)});
  if (attaching.empty()) return;  // it left meanwhile
  FeedToCome& feed = attaching.mapped();
  feeds_[feed.session] = std::make_unique<AgentFeedSender>(
      std::move(feed.agent), kj::mv(feed.feed), FeedSurroundings{*published_, timer_, clock_, rng_, metrics_},
      [this, session = feed.session](const Error& error) { endSession(session, "agent", error); });
  if (const auto revoked = logic_->members().revokedSerials(); !revoked.empty()) {
    tellRevoked(feed.session, "agent", feeds_[feed.session]->tellRevoked(revoked));
  }
}

void MasterServer::release(master::AnswerMoreJobs& action) {
  moreJobs_.fulfill(action.request, std::move(action.told));
}

void MasterServer::release(master::AnswerNumbers& action) {
  numbers_.fulfill(action.request, std::move(action.first));
}

void MasterServer::release(master::AnswerMonitorAttached& action) {
  if (!action.status.ok()) {
    monitorsAttaching_.fulfill(action.request, action.status.error());
  } else {
    monitorsAttaching_.fulfill(action.request,
                               AttachedMonitor{std::move(action.drop), std::move(action.stop), action.lease});
  }
}

void MasterServer::release(master::AnswerCommit& action) {
  metrics_.count(action.answer);
  commits_.fulfill(action.request, std::move(action.answer));
}
void MasterServer::release(master::AnswerPiece& action) {
  pieces_.fulfill(action.request, std::move(action.isThere));
  // By then the next batch is on its way to the disk: it has no piece, and so has every other.
  isTakingPiece_ = false;
  later_.add(kj::evalLater([this]() { takeNextPiece(); }));
}

void MasterServer::release(master::AnswerReports& action) {
  others_.fulfill(action.request, std::move(action.status));
}
void MasterServer::release(master::AnswerLease& action) {
  leases_.fulfill(action.request, std::move(action.refused));
}
void MasterServer::release(master::AnswerPools& action) {
  pools_.fulfill(action.request, std::move(action.answers));
}
void MasterServer::release(master::AnswerMembers& action) {
  members_.fulfill(action.request, std::move(action.member));
}
void MasterServer::release(master::AnswerSecrets& action) {
  secretsAsked_.fulfill(action.request, std::move(action.secrets));
}
void MasterServer::release(master::PublishRevoked& action) {
  for (auto& [session, feed] : feeds_) tellRevoked(session, "agent", feed->tellRevoked(action.serials));
  for (auto& [session, monitor] : monitors_)
    tellRevoked(session, "monitor", monitor.control->tellRevoked(action.serials));
  if (security_ != nullptr) security_->setRevoked(action.serials);
}
void MasterServer::release(master::Answer& action) {
  others_.fulfill(action.request, std::move(action.status));
}

void MasterServer::release(master::PublishServer& action) {
  const ServerId id = action.update.id;
  const bool factsChanged = action.update.facts.has_value();
  published_->take(std::move(action.update));
  for (auto& [session, feed] : feeds_) feed->serverChanged(id, factsChanged);
  forecast_->serverChanged(id, clock_.now().steady);
  serverWatchers_.wake(id);
  noteChange(id);
}

void MasterServer::release(master::PublishSettings& action) {
  published_->take(action.settings);
  forecast_->everythingChanged(clock_.now().steady);
  for (auto& [session, feed] : feeds_) feed->settingsChanged();
}

void MasterServer::release(master::PublishPlatform& action) {
  published_->take(PlatformRecord{action.platform, action.share});
  forecast_->everythingChanged(clock_.now().steady);
  for (auto& [session, feed] : feeds_) feed->platformChanged(action.platform);
}

void MasterServer::release(master::PublishShares& action) {
  published_->take(action);
  for (auto& [session, feed] : feeds_) feed->sharesChanged(action.user);
}

void MasterServer::release(master::EndAgent& action) {
  if (auto it = feeds_.find(action.session); it != feeds_.end()) it->second->supersede();
}

void MasterServer::release(master::AssignJob& action) {
  if (auto it = feeds_.find(action.session); it != feeds_.end())
    it->second->assign(std::move(action.assignment));
}

void MasterServer::release(master::OfferJobs& action) {
  const auto feed = feeds_.find(action.session);
  if (feed == feeds_.end()) return;
  std::vector<AgentFeedSender::JobOffer> offers;
  for (const master::JobOffer& offer : action.jobs)
    offers.push_back({offer.job, boundToTell(offer), offer.mayUseReserved, offer.usableReserved});
  feed->second->offerJobs(offers);
}

void MasterServer::release(master::PublishQueue& action) {
  published_->take(action);
  for (auto& [session, feed] : feeds_) feed->queueChanged();
}

void MasterServer::release(master::StopTask& action) {
  if (auto it = monitors_.find(action.session); it != monitors_.end())
    it->second.control->stop(action.allocation);
}

void MasterServer::release(master::ResizeTask& action) {
  const auto monitor = monitors_.find(action.session);
  if (monitor == monitors_.end()) return;
  failpoint("master.before_resize");
  monitor->second.control->resize(action.allocation, action.rus, [this, action](Status status) {
    failpoint("master.resize_answered");
    dispatch(master::TaskResized{action.session, action.allocation, action.rus, std::move(status)});
  });
}

void MasterServer::release(master::ThrottleTask& action) {
  const auto monitor = monitors_.find(action.session);
  if (monitor == monitors_.end()) return;
  monitor->second.control->throttle(action.allocation, action.throttle, [this, action](Status status) {
    dispatch(master::TaskThrottled{action.session, action.allocation, action.throttle, std::move(status)});
  });
}

void MasterServer::release(master::LimitPool& action) {
  if (auto it = monitors_.find(action.session); it != monitors_.end()) {
    it->second.control->limit(action.server, action.limit);
  }
}

void MasterServer::release(master::JobChanged& action) {
  jobWatchers_.wake(action.job);
  noteChange(action.job);
}

void MasterServer::noteChange(const ChangeLog::What& what) {
  changeLog_.add(what);
  changeWatchers_.wake({});
}

}  // namespace tarcil
