#include "master/server/master_ports.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/hex.h"
#include "core/base/text.h"
#include "master/server/agent_users.h"
#include "master/server/query_codec.h"
#include "master/server/registrar.h"
#include "master/server/secret_keeper.h"
#include "master/server/standby_gate.h"
#include "rpc/errors.h"
#include "rpc/local_user.h"
#include "rpc/port_server.h"
#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_secret.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

constexpr uint32_t kMaxTicketsAtOnce = 1'000;

// As whom they stand in the audit log who show this. `agent`: which hands it on; empty: nobody does.
audit::Requester requesterOf(const LoginProof& shown, const std::string& agent, const std::string& address) {
  audit::Requester by{.user = {},
                      .knownBy = "uid",
                      .agent = agent,
                      .address = address.empty() ? audit::kThisMachine : address};
  if (const auto* vouched = std::get_if<VouchedUser>(&shown)) {
    by.user = vouched->name;
  } else {
    const auto id = tokenIdOf(std::get<ShownToken>(shown).text);
    by.knownBy = id ? "token " + hexOf(*id) : "file of tokens";
  }
  return by;
}

// Who `by` is, and may do. Whoever is not let in stands in the audit log.
Caller requireCaller(MasterServer& server, const LoginProof& shown, audit::Requester& by) {
  auto caller = server.callerOf(shown);
  if (!caller.ok()) {
    server.note({.by = by, .action = "login", .outcome = name(caller.error().code)});
    kj::throwFatalException(toException(caller.error()));
  }
  by.user = caller->user;
  return caller.value();
}

Error noFiles(const JobId& job) {
  return notFound("job " + toString(job) + " has no such input files here");
}

// Whoever has a certificate speaks under its name and no other.
void requireOwnName(const std::optional<Identity>& peer, const std::string& name) {
  if (!peer || mayBeCalled(*peer, name)) return;
  kj::throwFatalException(toException(
      denied("the certificate is for " + described(*peer) + ", which may not speak as " + shown(name))));
}

// As whom a certificate lets its holder in.
Caller callerOf(const Identity& peer) {
  if (peer.role == MemberRole::kMaster) {
    kj::throwFatalException(toException(denied("the certificate is a master's, who has nothing to do here")));
  }
  return {peer.name, peer.role == MemberRole::kAgent ? Role::kAgent : Role::kMonitor, {}};
}

Error attachFirst() {
  return {ErrorCode::kConflict, "an agent attaches first"};
}

// An attached peer is detached when the last reference to its port goes, which a lost connection takes
// care of.
class AgentPortImpl final : public RolePortServer<wire::AgentPort> {
 public:
  AgentPortImpl(MasterServer& server, const LetIn& letIn)
      : server_(server),
        peer_(letIn.peer()),
        address_(letIn.address().empty() ? audit::kThisMachine : letIn.address()),
        session_(server.newSession()),
        users_(server.logins()) {}
  ~AgentPortImpl() noexcept(false) { server_.detach(session_); }

  kj::Promise<void> attach(AttachContext context) override {
    auto params = context.getParams();
    requireOwnName(peer_, text(params.getAgent()));
    agent_ = text(params.getAgent());
    return server_
        .attachAgent(session_, text(params.getAgent()), params.getEpoch(), text(params.getAddress()),
                     params.getFeed())
        .then([context](MasterServer::AttachedAgent&& attached) mutable {
          auto results = context.getResults();
          results.setEpoch(attached.epoch);
          tellJobs(attached.told, results);
        });
  }

  kj::Promise<void> moreJobs(MoreJobsContext context) override {
    return server_.moreJobs(session_).then(
        [context](master::AgentJobs&& told) mutable { tellJobs(told, context.getResults()); });
  }

  kj::Promise<void> leaseNumbers(LeaseNumbersContext context) override {
    return server_.leaseNumbers(session_, context.getParams().getCount())
        .then([context](JobNumber first) mutable { context.getResults().setFirst(first); });
  }

  kj::Promise<void> commit(CommitContext context) override {
    Commit commit = read(context.getParams().getCommit());
    audit::Requester by{.user = {}, .knownBy = "agent", .agent = agent_, .address = address_};
    std::string mayNot;
    if (commit.newJob) {
      const JobRecord& record = commit.newJob->record;
      auto submitter = users_.submitterOf(record.user, record.runAs);
      if (submitter) {
        by = std::move(*submitter);
      } else {
        mayNot = submitter.error().message;
      }
    }
    return server_.commit(session_, std::move(commit), std::move(mayNot), std::move(by))
        .then([this, context](CommitAnswer&& answer) mutable {
          auto results = context.getResults();
          write(answer, results.initAnswer());
          auto tickets = results.initTickets(static_cast<uint32_t>(answer.grants.size()));
          for (uint32_t i = 0; i < tickets.size(); ++i)
            tickets.set(i, convert::data(server_.ticketFor(answer.grants[i].allocation, agent_)));
        });
  }

  kj::Promise<void> tickets(TicketsContext context) override {
    const auto allocations = context.getParams().getAllocations();
    if (allocations.size() > kMaxTicketsAtOnce)
      return toException(invalid("tickets: asks for too many at once"));
    auto tickets = context.getResults().initTickets(allocations.size());
    for (uint32_t i = 0; i < allocations.size(); ++i)
      tickets.set(i, convert::data(server_.ticketFor(allocations[i], agent_)));
    // Nothing that a deposed master says.
    return server_.synced();
  }

  kj::Promise<void> lateGrant(LateGrantContext context) override {
    if (agent_.empty()) return toException(attachFirst());
    const auto params = context.getParams();
    const std::string user = text(params.getUser()), runAs = text(params.getRunAs());
    audit::Entry entry{.by = {.user = user, .knownBy = "agent", .agent = agent_, .address = address_},
                       .action = "late.grant",
                       .object = "user " + user,
                       .detail = "as " + runAs};
    auto submitter = users_.submitterOf(user, runAs);
    if (!submitter) {
      entry.outcome = name(submitter.error().code);
      server_.note(std::move(entry));
      return toException(submitter.error());
    }
    // An entry for each renewal would tell nothing more.
    if (granted_.insert({user, runAs}).second) {
      entry.by = std::move(*submitter);
      server_.note(std::move(entry));
    }
    write(server_.lateGrant(agent_, user, runAs), context.getResults().initGrant());
    // Nothing that a deposed master says.
    return server_.synced();
  }

  kj::Promise<void> piece(PieceContext context) override {
    const auto params = context.getParams();
    master::PieceArrived piece{.request = 0,
                               .session = session_,
                               .job = readJobId(params.getJob()),
                               .user = text(params.getUser()),
                               .bytes = params.getBytes(),
                               .number = params.getNumber(),
                               .files = std::make_shared<const FilePiece>(read(params.getFiles()))};
    context.releaseParams();
    return server_.takePiece(std::move(piece)).then([context](bool isThere) mutable {
      context.getResults().setIsThere(isThere);
    });
  }

  kj::Promise<void> declineOffers(DeclineOffersContext context) override {
    const auto params = context.getParams();
    server_.declineOffers(session_, readJobIds(params.getJobs()), readJobIds(params.getUntried()));
    return kj::READY_NOW;
  }

  kj::Promise<void> authenticate(AuthenticateContext context) override {
    if (agent_.empty()) return toException(attachFirst());
    letIn(ShownToken{text(context.getParams().getToken())}, text(context.getParams().getFrom()),
          context.getResults());
    return kj::READY_NOW;
  }

  kj::Promise<void> vouch(VouchContext context) override {
    if (agent_.empty()) return toException(attachFirst());
    letIn(VouchedUser{text(context.getParams().getUser()), agent_}, text(context.getParams().getFrom()),
          context.getResults());
    return kj::READY_NOW;
  }

 private:
  template <typename Results>
  void letIn(const LoginProof& shown, const std::string& from, Results results) {
    audit::Requester by = requesterOf(shown, agent_, from.empty() ? address_ : from);
    const Caller caller = requireCaller(server_, shown, by);
    if (!isOfUser(caller.role)) kj::throwFatalException(toException(denied("the token is not a user's")));
    requireOk(users_.add(shown, caller, by));
    write(caller, results.initCaller());
    results.setUser(makeUserPort(server_, caller, shown, std::move(by), Transport::kNetwork));
  }

  template <typename Results>
  static void tellJobs(const master::AgentJobs& told, Results results) {
    auto jobs = results.initJobs(static_cast<uint32_t>(told.jobs.size()));
    for (uint32_t i = 0; i < jobs.size(); ++i) write(told.jobs[i], jobs[i]);
    results.setMore(told.more);
  }

  MasterServer& server_;
  const std::optional<Identity> peer_;
  const std::string address_;
  const SessionId session_;
  std::string agent_;  // which it said that it is; empty before
  AgentUsers users_;
  std::set<std::pair<std::string, std::string>> granted_;  // late-bound tasks: of a user, as a system user
};

template <typename Value, typename List>
std::vector<Value> readAll(List list) {
  std::vector<Value> values;
  for (auto each : convert::elements(list)) values.push_back(read(each));
  return values;
}

template <typename Results>
void writeAttached(const MasterServer::AttachedMonitor& attached, Results& results) {
  convert::writeNumbers<uint64_t>(attached.drop,
                                  results.initDrop(static_cast<uint32_t>(attached.drop.size())));
  convert::writeNumbers<uint64_t>(attached.stop,
                                  results.initStop(static_cast<uint32_t>(attached.stop.size())));
}

class MonitorPortImpl final : public RolePortServer<wire::MonitorPort> {
 public:
  MonitorPortImpl(MasterServer& server, const LetIn& letIn)
      : server_(server), peer_(letIn.peer()), address_(letIn.address()), session_(server.newSession()) {}
  ~MonitorPortImpl() noexcept(false) { server_.detach(session_); }

  kj::Promise<void> attach(AttachContext context) override {
    auto params = context.getParams();
    return server_
        .attachMonitor(session_, text(params.getMonitor()), ownServers(params.getServers()),
                       readAll<KnownTask>(params.getTasks()), params.getControl())
        .then([this, context](MasterServer::AttachedMonitor&& attached) mutable {
          auto results = context.getResults();
          writeAttached(attached, results);
          results.setLease(static_cast<uint64_t>(attached.lease.count()));
          results.setTicketKey(kj::arrayPtr(attached.ticketKey.data(), attached.ticketKey.size()));
          const PublicKey& grantKey = server_.grantKey();
          results.setGrantKey(kj::arrayPtr(grantKey.data(), grantKey.size()));
        });
  }

  kj::Promise<void> attachMore(AttachMoreContext context) override {
    auto params = context.getParams();
    return server_
        .attachMore(session_, ownServers(params.getServers()), readAll<KnownTask>(params.getTasks()))
        .then([context](MasterServer::AttachedMonitor&& attached) mutable {
          auto results = context.getResults();
          writeAttached(attached, results);
        });
  }

  kj::Promise<void> report(ReportContext context) override {
    return server_.report(session_, readAll<TaskReport>(context.getParams().getReports()));
  }

  kj::Promise<void> renew(RenewContext context) override {
    return server_.renewLease(session_, convert::readNumbers<uint64_t>(context.getParams().getStarting()))
        .then([context](std::vector<AllocationId>&& refused) mutable {
          auto list = context.getResults().initRefused(static_cast<uint32_t>(refused.size()));
          convert::writeNumbers<uint64_t>(refused, list);
        });
  }

  kj::Promise<void> pools(PoolsContext context) override {
    std::vector<master::PoolReportOf> reports;
    for (auto report : convert::elements(context.getParams().getReports())) {
      late::PoolReport& to = reports.emplace_back(master::PoolReportOf{text(report.getServer()), {}}).report;
      to.incarnation = report.getIncarnation();
      to.sequence = report.getSequence();
      to.wanted = report.getWanted();
      to.least = report.getLeast();
      for (const uint16_t ru : report.getReturned()) to.returned.insert(ru);
    }
    return server_.reportPools(session_, std::move(reports))
        .then([context](std::vector<master::PoolAnswerOf>&& answers) mutable {
          auto list = context.getResults().initAnswers(static_cast<uint32_t>(answers.size()));
          for (uint32_t i = 0; i < list.size(); ++i) {
            const auto granted = answers[i].answer.granted.first(kMaxServerRus);
            list[i].setServer(text(answers[i].server));
            list[i].setIncarnation(answers[i].answer.incarnation);
            list[i].setSequence(answers[i].answer.sequence);
            convert::writeNumbers<uint16_t>(granted,
                                            list[i].initGranted(static_cast<uint32_t>(granted.size())));
          }
        });
  }

  kj::Promise<void> files(FilesContext context) override {
    const JobId id = readJobId(context.getParams().getJob());
    const uint32_t asked = context.getParams().getPiece();
    const uint32_t pieces = server_.logic().filePieces(id);
    if (asked > pieces || pieces == 0) {
      return toException(noFiles(id));
    }
    if (asked == 0 && pieces > 1) {
      return toException(invalid(
          "the input files of job " + toString(id) +
          " come in pieces, which monitors of earlier versions do not ask for; start one of this version"));
    }
    return server_.reads()
        .filePiece(id, std::max(asked, 1u) - 1)
        .then([this, context, id, pieces](FilePiece&& files) mutable {
          if (files.empty()) kj::throwFatalException(toException(noFiles(id)));
          auto results = context.getResults();
          write(files, results.initFiles(static_cast<uint32_t>(files.size())));
          results.setPieces(pieces);
          // Reading may have outlasted the lease.
          return server_.synced();
        });
  }

  kj::Promise<void> authenticate(AuthenticateContext context) override {
    const ShownToken shown{text(context.getParams().getToken())};
    audit::Requester by = requesterOf(shown, "", address_);
    const Caller caller = requireCaller(server_, shown, by);
    if (caller.role != Role::kAgent) return toException(denied("the token is not an agent's"));
    write(caller, context.getResults().initCaller());
    return kj::READY_NOW;
  }

  kj::Promise<void> secrets(SecretsContext context) override {
    return server_.secrets()
        .handOut(session_, context.getParams().getAllocation(),
                 address_.empty() ? audit::kThisMachine : address_)
        .then([context](std::vector<TaskSecret>&& secrets) mutable {
          auto to = context.getResults().initSecrets(static_cast<uint32_t>(secrets.size()));
          for (uint32_t i = 0; i < to.size(); ++i) write(secrets[i], to[i]);
        });
  }

  kj::Promise<void> pressure(PressureContext context) override {
    std::vector<late::PoolPressure> pools;
    for (auto pool : convert::elements(context.getParams().getPools())) {
      pools.push_back(
          {text(pool.getServer()), convert::readArray<int32_t, kResources>(pool.getCaused(), "caused")});
    }
    server_.pressure(session_, readAll<ServerPressure>(context.getParams().getServers()), std::move(pools));
    return kj::READY_NOW;
  }

  kj::Promise<void> violations(ViolationsContext context) override {
    server_.violations(session_, readAll<Violation>(context.getParams().getViolations()));
    return kj::READY_NOW;
  }

  kj::Promise<void> performance(PerformanceContext context) override {
    server_.performance(session_, readAll<PerformanceSample>(context.getParams().getSamples()));
    return kj::READY_NOW;
  }

  kj::Promise<void> leave(LeaveContext) override {
    server_.leave(session_);
    return kj::READY_NOW;
  }

 private:
  std::vector<ServerFacts> ownServers(capnp::List<wire::ServerFacts>::Reader from) const {
    auto servers = readAll<ServerFacts>(from);
    for (const ServerFacts& server : servers) requireOwnName(peer_, server.name);
    return servers;
  }

  MasterServer& server_;
  const std::optional<Identity> peer_;
  const std::string address_;
  const SessionId session_;
};

class MasterGateImpl final : public wire::MasterGate::Server {
 public:
  MasterGateImpl(MasterServer& server, LetIn letIn) : server_(server), letIn_(std::move(letIn)) {}

  kj::Promise<void> login(LoginContext context) override {
    return shownBy(context.getParams().getToken()).then([this, context](LoginProof&& shown) mutable {
      return logIn(context, shown);
    });
  }

  kj::Promise<void> renewCertificate(RenewCertificateContext context) override {
    if (!letIn_.peer()) return toException(denied("only who shows a certificate gets another"));
    if (server_.registrar() == nullptr) return toException(noAuthority());
    return server_.registrar()
        ->renew(*letIn_.peer(), text(context.getParams().getRequest()), letIn_.address())
        .then([context](std::string&& certificate) mutable {
          context.getResults().setCertificate(text(certificate));
        });
  }

  kj::Promise<void> standing(StandingContext context) override {
    write(server_.standing(), context.getResults().initStanding());
    // Nothing that a deposed master says.
    return server_.synced();
  }

  kj::Promise<void> laterLeader(LaterLeaderContext context) override {
    return shownBy(context.getParams().getToken()).then([this, context](LoginProof&& shown) mutable {
      return sayWhetherLater(context, shown);
    });
  }

 private:
  kj::Promise<void> sayWhetherLater(LaterLeaderContext context, const LoginProof& shown) {
    audit::Requester by = requesterOf(shown, "", letIn_.address());
    const Caller caller = admitted(shown, by);
    if (isOfUser(caller.role)) return toException(notForUsers());
    letRoleIn(shown, caller);
    const uint64_t term = server_.standing().term;
    context.allowCancellation();
    // When another one leads this process has ended.
    if (term <= context.getParams().getTerm()) return kj::NEVER_DONE;
    context.getResults().setTerm(term);
    return server_.synced();
  }

  kj::Promise<void> logIn(LoginContext context, const LoginProof& shown) {
    audit::Requester by = requesterOf(shown, "", letIn_.address());
    const Caller caller = admitted(shown, by);
    if (isOfUser(caller.role)) {
      letIn_(Peer::kUser, *server_.fairCalls().user(caller.user), server_.logins().untilEnded(shown, caller));
    } else {
      letRoleIn(shown, caller);
    }
    auto results = context.getResults();
    write(caller, results.initCaller());
    switch (caller.role) {
      case Role::kRead:
      case Role::kSubmit:
      case Role::kOperate:
        results.setUser(makeUserPort(server_, caller, shown, std::move(by),
                                     letIn_.uid() ? Transport::kUnixSocket : Transport::kNetwork));
        break;
      case Role::kAgent:
        results.setAgent(kj::heap<AgentPortImpl>(server_, letIn_));
        break;
      case Role::kMonitor:
        results.setMonitor(kj::heap<MonitorPortImpl>(server_, letIn_));
        break;
    }
    const ClusterRecord& cluster = server_.logic().cluster();
    results.setCluster(text(cluster.cluster));
    results.setEpoch(cluster.epoch);
    results.setTerm(server_.standing().term);
    // The cluster's name is made durable with the store's first batch.
    return server_.synced();
  }

  // Whom a certificate lets in it lets in until it is revoked (rpc/connection.cc).
  void letRoleIn(const LoginProof& shown, const Caller& caller) {
    letIn_(Peer::kRole, nullptr,
           letIn_.peer() ? kj::Promise<void>(kj::NEVER_DONE) : server_.logins().untilEnded(shown, caller));
  }

  // Without a token whoever the kernel says, over a Unix socket.
  kj::Promise<LoginProof> shownBy(capnp::Text::Reader token) const {
    if (token.size() > 0 || !letIn_.uid()) return LoginProof(ShownToken{text(token)});
    return localUser(letIn_).then([](std::string&& user) {
      return LoginProof(VouchedUser{std::move(user), ""});
    });
  }

  Caller admitted(const LoginProof& shown, audit::Requester& by) {
    if (!letIn_.peer()) return requireCaller(server_, shown, by);
    requireOk(server_.admits(*letIn_.peer()));
    return callerOf(*letIn_.peer());
  }

  MasterServer& server_;
  const LetIn letIn_;
};

}  // namespace

Error noAuthority() {
  return {ErrorCode::kConflict, "this cluster has no authority: it was not made with `tarcil init`"};
}

wire::MasterGate::Client makeMasterGate(MasterServer& server, LetIn letIn) {
  return kj::heap<MasterGateImpl>(server, std::move(letIn));
}

}  // namespace tarcil
