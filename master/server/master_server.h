// The master's I/O: turns calls, timers and lost connections into events for the logic, writes its records,
// and sends its answers and news once those are on disk.
#pragma once

#include <kj/async.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "env/alarm.h"
#include "env/clock.h"
#include "env/stall_detector.h"
#include "env/stop.h"
#include "master/logic/master_logic.h"
#include "master/logic/queue/forecast.h"
#include "master/logic/servers/published_state.h"
#include "master/server/agent_feed.h"
#include "master/server/change_log.h"
#include "master/server/control_sender.h"
#include "master/server/login_watch.h"
#include "master/server/master_metrics.h"
#include "master/server/output_gate.h"
#include "master/server/standing.h"
#include "master/server/store_reads.h"
#include "master/server/survey_metrics.h"
#include "master/server/watchers.h"
#include "master/store/rocks/backups.h"
#include "rpc/connection.h"
#include "rpc/fair_calls.h"
#include "rpc/late_grant.h"
#include "rpc/launch_ticket.h"
#include "rpc/requests.h"
#include "rpc/token.h"

namespace tarcil {

class Registrar;
class SecretKeeper;

// Single-threaded; its ports (master_ports.h) call it on the event loop.
class MasterServer final {
 public:
  // `store`, `clock`, `trail` outlive the server. `failed`: a write failed, the process must stop. Without a
  // trail nothing is audited.
  MasterServer(Net net, const Clock& clock, Rng rng, Store& store, StoreContents contents, TokenTable tokens,
               const MasterOptions& options, kj::Function<void(const Error&)> failed,
               AuditTrail* trail = nullptr);
  ~MasterServer() noexcept(false);
  KJ_DISALLOW_COPY(MasterServer);

  const MasterLogic& logic() const { return *logic_; }
  // As whom somebody is let in who shows this; Denied where nobody is.
  Result<Caller> callerOf(const LoginProof& shown) const;
  // Ends logins as soon as what was shown no longer holds.
  LoginWatch& logins() { return logins_; }
  // LoginWatch that rest on others end.
  void setTokens(TokenTable tokens);
  StoreReads& reads() { return reads_; }
  // What is told of this master. `stepDown`, where another one may lead in its place, ends this one: no
  // answer that has been given is under way by then.
  void setStanding(MasterStanding standing, kj::Maybe<kj::Function<void()>> stepDown) {
    standing_ = std::move(standing);
    stepDown_ = kj::mv(stepDown);
  }
  const MasterStanding& standing() const { return standing_; }
  // As UserPort.stepDown says.
  kj::Promise<void> stepDown(uint64_t term);
  FairCalls& fairCalls() { return *fairCalls_; }

  struct AttachedAgent {
    uint64_t epoch;
    master::AgentJobs told;
  };
  kj::Promise<AttachedAgent> attachAgent(SessionId session, std::string agent, uint64_t epoch,
                                         std::string address, wire::AgentFeed::Client feed);

  kj::Promise<master::AgentJobs> moreJobs(SessionId session);
  kj::Promise<JobNumber> leaseNumbers(SessionId session, uint32_t count);

  struct AttachedMonitor {
    std::vector<AllocationId> drop;
    std::vector<AllocationId> stop;
    Duration lease;
    MacKey ticketKey{};
  };
  kj::Promise<AttachedMonitor> attachMonitor(SessionId session, std::string monitor,
                                             std::vector<ServerFacts> servers, std::vector<KnownTask> tasks,
                                             wire::MonitorControl::Client control);

  kj::Promise<AttachedMonitor> attachMore(SessionId session, std::vector<ServerFacts> servers,
                                          std::vector<KnownTask> tasks);

  SessionId newSession() { return ++sessions_; }
  void detach(SessionId session);

  // By which the monitor of a starting task knows its launch, of a job that this agent owns; empty where
  // there is none (MasterLogic::launching).
  std::string ticketFor(AllocationId allocation, const std::string& agent) const;
  // That the agent may have late-bound tasks of the user run, which is not checked here.
  LateGrant lateGrant(const std::string& agent, const std::string& user, const std::string& runAs) const;
  const PublicKey& grantKey() const { return grantKey_.publicKey(); }
  kj::Promise<CommitAnswer> commit(SessionId session, Commit commit, std::string mayNot, audit::Requester by);
  // Whether the job is there already. Pieces are taken one at a time, so that no batch has more than one.
  kj::Promise<bool> takePiece(master::PieceArrived piece);
  void declineOffers(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried);
  kj::Promise<std::vector<AllocationId>> renewLease(SessionId session, std::vector<AllocationId> starting);
  kj::Promise<void> report(SessionId session, std::vector<TaskReport> reports);
  void performance(SessionId session, std::vector<PerformanceSample> samples);
  void pressure(SessionId session, std::vector<ServerPressure> servers,
                std::vector<late::PoolPressure> pools);
  void violations(SessionId session, std::vector<Violation> violations);
  void leave(SessionId session) { dispatch(master::MonitorLeaves{session}); }
  kj::Promise<std::vector<master::PoolAnswerOf>> reportPools(SessionId session,
                                                             std::vector<master::PoolReportOf> reports);
  kj::Promise<void> cancel(const JobId& job, const Caller& caller, audit::Requester by);
  kj::Promise<void> setSettings(const QualitySettings& settings, audit::Requester by);
  kj::Promise<void> setPlatform(const std::string& platform, const Share& share, audit::Requester by);
  kj::Promise<void> setShares(const std::string& user, uint32_t shares, audit::Requester by);
  kj::Promise<void> storeProfile(const Caller& caller, Profile profile, std::string note,
                                 audit::Requester by);
  kj::Promise<void> deleteProfile(const Caller& caller, std::string application, std::string user,
                                  audit::Requester by);
  kj::Promise<void> promoteProfile(const Caller& caller, std::string application, std::string user,
                                   audit::Requester by);
  kj::Promise<void> steerJob(const JobId& job, master::JobChange change, uint8_t priority,
                             const Caller& caller, audit::Requester by);
  kj::Promise<void> addCron(const Caller& caller, CronSpec cron, bool replaces, audit::Requester by);
  // The request is numbered here.
  kj::Promise<void> steerCron(master::CronSteered event);
  kj::Promise<void> steerServers(std::vector<std::string> servers, master::ServerChange change,
                                 Duration deadline, const Caller& caller, audit::Requester by);

  // The member as it is then.
  kj::Promise<MemberRecord> changeMembers(master::MemberChange change, audit::Requester by);
  kj::Promise<void> changePeople(master::PeopleChange change, audit::Requester by);
  // Invalid, Denied or Exhausted as UserPort.addToken says.
  struct NewToken {
    std::string text;
    uint64_t id = 0;
    WallTime until{};
  };
  kj::Promise<NewToken> makeToken(const std::string& user, Duration life, const Caller& caller,
                                  audit::Requester by);
  kj::Promise<void> changeSecrets(master::SecretChange change, audit::Requester by);
  // Sealed; what a task that starts on a server of the session is to get. Denied or NotFound: nothing.
  kj::Promise<std::vector<SecretRecord>> askSecrets(SessionId session, AllocationId allocation,
                                                    std::string address);
  SecretKeeper& secrets() { return *secrets_; }
  // Denied where the certificate was revoked.
  Status admits(const Identity& identity) const { return logic_->members().admits(identity); }
  // Null where the cluster has no authority.
  Registrar* registrar() { return registrar_; }
  // It outlives the connections to this server.
  void setRegistrar(Registrar& registrar) { registrar_ = &registrar; }

  // For the audit log: what was done or refused beside the events of the logic. An outcome other than
  // accepted is counted where there are many.
  void note(audit::Entry entry) { dispatch(master::Noted{std::move(entry)}); }
  // Null where nothing is audited.
  AuditTrail* trail() { return trail_; }

  // Store::backup(), of everything that logic() shows now at least.
  kj::Promise<void> backup(std::string folder);

  // Measures the free space of the store, tells the logic, and logs when it becomes too little or enough
  // again. Called every second.
  void measureSpace();

  // In Prometheus' text format; of nothing that is not on disk.
  kj::Promise<std::string> metrics();

  // How far each attached agent's copy of the state is behind (AgentFeedSender::behind()), by its name.
  std::map<std::string, Duration> behind() const;

  // When the job should start; kNever where nobody can tell yet.
  WallTime expectedStart(const WaitingJob& job);
  // As logic() has them now.
  std::vector<WaitingJob> waitingJobs(const Caller& caller, size_t atMost) const {
    return logic_->waitingJobs(caller, atMost, clock_.now().wall);
  }
  std::optional<WaitingJob> waitingJob(const JobId& id) const {
    return logic_->waitingJob(id, clock_.now().wall);
  }
  // By number from `first` on, so many at most.
  std::vector<Forecast::NamedBucket> buckets(uint32_t first, size_t atMost) {
    return forecast_->buckets(clock_.now().steady, first, atMost);
  }
  std::optional<BucketId> bucketOf(ServerId server) const { return forecast_->bucketOf(server); }

  // Resolves when everything that logic() shows now is on disk.
  kj::Promise<void> synced();
  // Resolves after the next change of the job that is on disk. Fails as Exhausted where too many wait, in all
  // or of this user, and as Conflict where the master is read-only.
  kj::Promise<void> jobChanged(const JobId& job, const Caller& caller);
  // The same of a server's state.
  kj::Promise<void> serverChanged(ServerId server, const Caller& caller);
  // The same of anything that the log has.
  kj::Promise<void> somethingChanged(const Caller& caller);
  // Of what is on disk.
  const ChangeLog& changeLog() const { return changeLog_; }

 private:
  void endSession(SessionId session, const char* role, const Error& error);
  kj::Promise<void> watchDisk();
  // Ends logins by tokens that have expired.
  kj::Promise<void> watchTokens();
  // Logs when the store's disk hangs, and when it goes on.
  void noticeHangingDisk();
  void dispatch(const master::Event& event);
  void carryOut(std::vector<master::Action>& actions);
  void takeNextPiece();

  // One for each type of action that leaves the process; called when its batch is on disk.
  void release(master::Persist&) {}
  void release(master::Audit&) {}
  void release(master::WakeAt&) {}
  void release(master::AnswerAgentAttached& action);
  void release(master::AnswerMoreJobs& action);
  void release(master::AnswerNumbers& action);
  void release(master::AnswerMonitorAttached& action);
  void release(master::AnswerCommit& action);
  void release(master::AnswerPiece& action);
  void release(master::AnswerReports& action);
  void release(master::AnswerLease& action);
  void release(master::AnswerPools& action);
  void release(master::AnswerMembers& action);
  void release(master::AnswerSecrets& action);
  void release(master::PublishRevoked& action);
  void release(master::PublishUser& action) { logins_.look(action.user); }
  void release(master::Answer& action);
  void release(master::PublishServer& action);
  void release(master::PublishSettings& action);
  void release(master::PublishPlatform& action);
  void release(master::PublishShares& action);
  void release(master::EndAgent& action);
  void release(master::AssignJob& action);
  void release(master::OfferJobs& action);
  // How long the job should wait for a good slot, where that is to be told and known.
  std::optional<Duration> boundToTell(const master::JobOffer& offer);
  void release(master::PublishQueue& action);
  void release(master::StopTask& action);
  void release(master::ResizeTask& action);
  void release(master::ThrottleTask& action);
  void release(master::LimitPool& action);
  void release(master::JobChanged& action);
  void noteChange(const ChangeLog::What& what);
  // Of the tasks that something is told of.
  template <typename Told>
  std::set<ServerId> serversOf(const std::vector<Told>& told) const;
  // What the last survey found, and the rest as of now.
  kj::Promise<std::string> metricsNow();

  // To a peer that is attached; without an answer its session ends.
  void tellRevoked(SessionId session, const char* role, kj::Promise<void> told);

  kj::Timer& timer_;
  Security* const security_;
  Registrar* registrar_ = nullptr;
  const std::unique_ptr<SecretKeeper> secrets_;
  MasterStanding standing_{.leads = true};
  kj::Maybe<kj::Function<void()>> stepDown_;
  const Clock& clock_;
  Rng rng_;
  Store& store_;
  StoreReads reads_{store_};
  TokenTable tokens_;
  LoginWatch logins_{[this](const LoginProof& shown) { return callerOf(shown); }};
  WallTime tokensLooked_{};  // those that expired until then let nobody in any more
  MasterMetrics metrics_;
  AuditTrail* const trail_;
  OutputGate gate_;
  Backups backups_;
  SessionId sessions_ = 0;
  uint64_t requests_ = 0;
  kj::Own<FairCalls> fairCalls_ = kj::refcounted<FairCalls>(timer_);

  Requests<Result<AttachedAgent>> agentsAttaching_{requests_};
  Requests<Result<master::AgentJobs>> moreJobs_{requests_};
  Requests<Result<JobNumber>> numbers_{requests_};
  Requests<Result<AttachedMonitor>> monitorsAttaching_{requests_};
  Requests<CommitAnswer> commits_{requests_};
  Requests<Result<bool>> pieces_{requests_};
  Requests<Result<std::vector<AllocationId>>> leases_{requests_};
  Requests<Result<std::vector<master::PoolAnswerOf>>> pools_{requests_};
  Requests<Result<MemberRecord>> members_{requests_};
  Requests<Result<std::vector<SecretRecord>>> secretsAsked_{requests_};
  Requests<Status> others_{requests_};

  std::deque<master::PieceArrived> waitingPieces_;
  bool isTakingPiece_ = false;

  std::unique_ptr<PublishedState> published_;
  std::unique_ptr<Forecast> forecast_;
  struct FeedToCome {
    SessionId session;
    std::string agent;
    wire::AgentFeed::Client feed;
  };
  std::map<RequestId, FeedToCome> feedsToCome_;  // of agents that are attaching
  std::map<SessionId, std::unique_ptr<AgentFeedSender>> feeds_;
  struct Monitor {
    std::unique_ptr<ControlSender> control;
    MacKey ticketKey{};
  };
  std::map<SessionId, Monitor> monitors_;
  const SigningKey grantKey_;  // of this process: monitors know earlier masters' for as long as it matters
  Watchers<JobId> jobWatchers_;
  Watchers<ServerId> serverWatchers_;
  ChangeLog changeLog_;
  Watchers<std::monostate> changeWatchers_;

  Alarm alarm_;
  std::unique_ptr<MasterLogic> logic_;
  std::unique_ptr<SurveyMetrics> survey_;
  uint64_t storeBytes_ = 0;
  StopsIfFailed stops_{"what was put off"};
  kj::TaskSet later_{stops_};
  StallDetector disk_;
  kj::Promise<void> watchingDisk_ = nullptr, watchingTokens_ = nullptr;
};

}  // namespace tarcil
