// What users ask of the shared state (schema/master.capnp, UserPort).
#include <algorithm>
#include <set>
#include <variant>

#include "core/base/text.h"
#include "master/logic/message_size.h"
#include "master/server/change_log.h"
#include "master/server/master_ports.h"
#include "master/server/profile_page.h"
#include "master/server/query_codec.h"
#include "master/server/registrar.h"
#include "master/server/secret_keeper.h"
#include "rpc/errors.h"
#include "rpc/port_server.h"
#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_member.h"
#include "schema/convert_people.h"
#include "schema/convert_profile.h"
#include "schema/convert_secret.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

// Of a queue: each costs some ten microseconds.
constexpr uint32_t kMaxWaitingShown = 1'000;
// Of one job, in one answer.
constexpr uint32_t kTasksInOneAnswer = 2'000;
constexpr size_t kServersInOneAnswer = 500;
// Platforms, agents, users, buckets: some hundred bytes each.
constexpr size_t kMostInOneAnswer = 1'000;

// Each has at most its last ten times, with reasons.
constexpr size_t kCronsInOneAnswer = 200;
constexpr size_t kCronTimesShown = 5;

constexpr size_t kChangesInOneAnswer = 1'000;
// Of a job's summary on the wire, without its texts.
constexpr size_t kBytesOfSummary = 200;

// Longer ones are cut to this, so that times cannot overflow.
constexpr Duration kMaxDeadline = std::chrono::days(10 * 365);

Error noSuchServer(const std::string& name) {
  return notFound("there is no server '" + name + "'; see: tarcil server list");
}

// Every answer is filled from the newest state and leaves when that state is on disk.
class UserPortImpl final : public UserPortServer<wire::UserPort> {
 public:
  UserPortImpl(MasterServer& server, kj::Own<FairCalls::User> user, Caller caller, const LoginProof& shown,
               audit::Requester requester, Transport transport)
      : UserPortServer(kj::mv(user), caller.role),
        server_(server),
        caller_(std::move(caller)),
        requester_(std::move(requester)),
        transport_(transport),
        ended_(server.logins()
                   .untilEnded(shown, caller_)
                   .catch_([this](kj::Exception&& exception) { whyEnded_ = fromException(exception); })
                   .fork()) {}

  kj::Promise<void> job(JobContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    const TaskIndex firstTask = context.getParams().getFirstTask();
    requireVisible(id);
    auto job = context.getResults().initJob();
    auto details = server_.logic().job(id, firstTask, kTasksInOneAnswer);
    server_.logic().hideNeighbours(caller_, details->violations);
    write(*details, job);
    const auto waiting = firstTask == 0 ? server_.waitingJob(id) : std::nullopt;
    if (waiting) {
      job.setExpectedStart(toWire(server_.expectedStart(*waiting)));
    }
    return server_.synced();
  }

  kj::Promise<void> jobs(JobsContext context) override {
    auto params = context.getParams();
    JobQuery query = readQuery(params.getLimit(), params.getFilter());
    if (params.hasAfter()) query.after = positionOf(read(params.getAfter()));
    const JobPage page = server_.logic().jobs(caller_, query);
    auto results = context.getResults();
    auto to = results.initJobs(static_cast<uint32_t>(page.jobs.size()));
    for (uint32_t i = 0; i < page.jobs.size(); ++i) write(page.jobs[i], to[i]);
    if (page.next) write(*page.next, results.initNext());
    return server_.synced();
  }

  kj::Promise<void> find(FindContext context) override {
    const auto params = context.getParams();
    const auto& logic = server_.logic();
    const auto ids = params.getNumber() > 0 ? logic.jobsNumbered(params.getNumber(), caller_)
                                            : logic.jobsStartingWith(text(params.getPrefix()), caller_);
    auto to = context.getResults().initIds(static_cast<uint32_t>(ids.size()));
    auto numbers = context.getResults().initNumbers(static_cast<uint32_t>(ids.size()));
    for (uint32_t i = 0; i < ids.size(); ++i) {
      to.set(i, bytesOf(ids[i]));
      numbers.set(i, logic.summary(ids[i])->number);
    }
    return server_.synced();
  }

  kj::Promise<void> wait(WaitContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    context.allowCancellation();
    return waitFor(id).then(
        [context](RunState state) mutable { context.getResults().setState(toWire(state)); });
  }

  kj::Promise<void> locate(LocateContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    const TaskIndex index = context.getParams().getTask();
    const AllocationId after = context.getParams().getAfter();
    const AllocationId only = context.getParams().getOnly();
    context.allowCancellation();
    auto found = only == 0 ? locateTask(id, index, after) : locateAttempt(id, index, only);
    return found.then([this, context](TaskRecord&& task) mutable {
      auto results = context.getResults();
      results.setAllocation(task.allocation);
      results.setServer(text(task.server));
      results.setState(toWire(task.state));
      if (const auto server = server_.logic().server(task.server))
        results.setAddress(text(server->facts.address));
    });
  }

  kj::Promise<void> cancel(CancelContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    context.getResults().setState(toWire(requireVisible(id).state));
    return server_.cancel(id, caller_, requester_);
  }

  kj::Promise<void> steerJob(SteerJobContext context) override {
    auto params = context.getParams();
    const auto change = convert::fromWireEnum<master::JobChange>(params.getChange(), 4, "JobChange");
    return server_.steerJob(readJobId(params.getId()), change, params.getPriority(), caller_, requester_);
  }

  kj::Promise<void> foreseeAfter(ForeseeAfterContext context) override {
    const auto outlook = server_.logic().outlookOf(caller_, read(context.getParams().getSpec()));
    if (!outlook) kj::throwFatalException(toException(outlook.error()));
    context.getResults().setCancelled(outlook->isCancelled);
    context.getResults().setReason(text(outlook->reason));
    return server_.synced();
  }

  kj::Promise<void> decisions(DecisionsContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    requireVisible(id);
    auto read = server_.synced().then([this, id]() { return server_.reads().decisions(id); });
    return read.then([this, context](std::vector<DecisionRecord>&& decisions) mutable {
      auto to = context.getResults().initDecisions(static_cast<uint32_t>(decisions.size()));
      std::set<ServerId> servers;
      for (uint32_t i = 0; i < decisions.size(); ++i) {
        write(decisions[i], to[i]);
        for (const Candidate& candidate : decisions[i].explanation.best) servers.insert(candidate.server);
      }
      writeNames(servers, context.getResults().initServers(static_cast<uint32_t>(servers.size())));
      return server_.synced();
    });
  }

  kj::Promise<void> servers(ServersContext context) override {
    auto servers = server_.logic().serversWithoutTasks(context.getParams().getFirst(), kServersInOneAnswer);
    Page page;
    uint32_t count = 0;
    while (count < servers.size() && page.takes(wireBytesOf(servers[count]))) ++count;
    auto to = context.getResults().initServers(count);
    for (uint32_t i = 0; i < count; ++i) tell(servers[i], to[i]);
    const bool isCut = count < servers.size() || servers.size() == kServersInOneAnswer;
    if (isCut) context.getResults().setNext(servers[count - 1].id + 1);
    context.getResults().setWarning(text(server_.logic().warning()));
    return server_.synced();
  }

  kj::Promise<void> server(ServerContext context) override {
    const std::string name = text(context.getParams().getName());
    auto server = server_.logic().server(name);
    if (!server) return toException(noSuchServer(name));
    tell(*server, context.getResults().initServer());
    return server_.synced();
  }

  kj::Promise<void> settings(SettingsContext context) override {
    write(server_.logic().settings(), context.getResults().initSettings());
    return server_.synced();
  }

  kj::Promise<void> setSettings(SetSettingsContext context) override {
    requireOperator("change settings");
    return server_.setSettings(read(context.getParams().getSettings()), requester_);
  }

  kj::Promise<void> platforms(PlatformsContext context) override {
    const auto platforms = server_.logic().platforms(text(context.getParams().getAfter()), kMostInOneAnswer);
    auto to = context.getResults().initPlatforms(static_cast<uint32_t>(platforms.size()));
    for (uint32_t i = 0; i < platforms.size(); ++i) write(platforms[i].name, platforms[i].share, to[i]);
    if (platforms.size() == kMostInOneAnswer) context.getResults().setNext(text(platforms.back().name));
    return server_.synced();
  }

  kj::Promise<void> setPlatform(SetPlatformContext context) override {
    requireOperator("change platforms");
    const auto platform = context.getParams().getPlatform();
    return server_.setPlatform(text(platform.getName()), readShare(platform), requester_);
  }

  kj::Promise<void> setShares(SetSharesContext context) override {
    requireOperator("change shares");
    const auto params = context.getParams();
    return server_.setShares(text(params.getUser()), params.getShares(), requester_);
  }

  kj::Promise<void> profiles(ProfilesContext context) override {
    writeProfiles(server_.logic(), caller_, context.getParams().getAfter(), context.getResults());
    return server_.synced();
  }

  kj::Promise<void> profile(ProfileContext context) override {
    const std::string application = text(context.getParams().getApplication());
    const std::string asked = text(context.getParams().getUser()),
                      user = asked.empty() ? caller_.user : asked;
    if (!maySteer(caller_, user)) {
      return toException(denied("what was observed of user " + user + " is for that user and for operators"));
    }
    const StoredProfile* profile = server_.logic().profile(application, user);
    const ObservedProfile* observed =
        server_.logic().observed(profile == nullptr ? application : profile->profile.application, user);
    if (profile == nullptr && observed == nullptr) {
      return toException(Error{ErrorCode::kNotFound, "no profile is stored under \"" + application + "\""});
    }
    if (profile != nullptr) write(*profile, context.getResults().initProfile());
    if (observed != nullptr) write(*observed, context.getResults().initObserved());
    return server_.synced();
  }

  kj::Promise<void> storeProfile(StoreProfileContext context) override {
    const auto params = context.getParams();
    return server_.storeProfile(caller_, read(params.getProfile()), text(params.getNote()), requester_);
  }

  kj::Promise<void> deleteProfile(DeleteProfileContext context) override {
    const auto params = context.getParams();
    return server_.deleteProfile(caller_, text(params.getApplication()), text(params.getUser()), requester_);
  }

  kj::Promise<void> promoteProfile(PromoteProfileContext context) override {
    const auto params = context.getParams();
    return server_.promoteProfile(caller_, text(params.getApplication()), text(params.getUser()), requester_);
  }

  kj::Promise<void> addCron(AddCronContext context) override {
    const auto params = context.getParams();
    return server_.addCron(caller_, read(params.getCron()), params.getReplace(), requester_);
  }

  kj::Promise<void> inviteMember(InviteMemberContext context) override {
    requireOperator("have machines join");
    if (server_.registrar() == nullptr) return toException(noAuthority());
    const auto params = context.getParams();
    const Duration life = convert::readDuration(params.getLife(), "life");
    return server_.registrar()
        ->invite(fromWire(params.getRole()), text(params.getName()), life, transport_, requester_)
        .then([context](JoinWord&& word) mutable {
          auto results = context.getResults();
          results.setWord(text(textOf(word)));
          results.setUntil(toWire(word.until));
        });
  }

  kj::Promise<void> members(MembersContext context) override {
    requireOperator("list members");
    const auto params = context.getParams();
    const auto& all = server_.logic().members().all();
    auto it = all.begin();
    if (params.hasAfter())
      it = all.upper_bound({fromWire(params.getAfter().getRole()), text(params.getAfter().getName())});
    std::vector<MemberRecord> told;
    for (; it != all.end() && told.size() < kMostInOneAnswer; ++it) {
      MemberRecord& member = told.emplace_back(it->second);
      if (member.invitation) member.invitation->word = {};  // nobody's to see, not even as a digest
    }
    auto results = context.getResults();
    auto to = results.initMembers(static_cast<uint32_t>(told.size()));
    for (uint32_t i = 0; i < told.size(); ++i) write(told[i], to[i]);
    if (it != all.end()) {
      results.initNext().setRole(toWire(told.back().role));
      results.getNext().setName(text(told.back().name));
    }
    return server_.synced();
  }

  kj::Promise<void> revokeMember(RevokeMemberContext context) override {
    requireOperator("revoke certificates");
    const auto params = context.getParams();
    return server_
        .changeMembers(master::MemberRevoked{fromWire(params.getRole()), text(params.getName())}, requester_)
        .ignoreResult();
  }

  kj::Promise<void> loginEnds(LoginEndsContext context) override {
    context.allowCancellation();
    return ended_.addBranch();
  }

  kj::Promise<void> users(UsersContext context) override {
    const PeopleTable& people = server_.logic().people();
    const auto page = pageOf(people.users(), text(context.getParams().getAfter()), people.user(caller_.user));
    auto to = context.getResults().initUsers(static_cast<uint32_t>(page.told.size()));
    for (uint32_t i = 0; i < to.size(); ++i) write(*page.told[i], to[i]);
    if (page.isCut) context.getResults().setNext(text(page.told.back()->name));
    return server_.synced();
  }

  kj::Promise<void> setUser(SetUserContext context) override {
    requireOperator("change users");
    const auto params = context.getParams();
    master::UserSet set{.seen = {}, .next = read(params.getNext())};
    if (params.hasSeen()) set.seen = read(params.getSeen());
    return server_.changePeople(std::move(set), requester_);
  }

  kj::Promise<void> removeUser(RemoveUserContext context) override {
    requireOperator("change users");
    return server_.changePeople(master::UserRemoved{text(context.getParams().getName())}, requester_);
  }

  kj::Promise<void> accounts(AccountsContext context) override {
    const PeopleTable& people = server_.logic().people();
    const auto page =
        pageOf(people.accounts(), text(context.getParams().getAfter()), people.accountOf(caller_.user));
    auto to = context.getResults().initAccounts(static_cast<uint32_t>(page.told.size()));
    for (uint32_t i = 0; i < to.size(); ++i) write(*page.told[i], to[i]);
    if (page.isCut) context.getResults().setNext(text(page.told.back()->name));
    return server_.synced();
  }

  kj::Promise<void> setAccount(SetAccountContext context) override {
    requireOperator("change accounts");
    const auto params = context.getParams();
    master::AccountSet set{.seen = {}, .next = read(params.getNext())};
    if (params.hasSeen()) set.seen = read(params.getSeen());
    return server_.changePeople(std::move(set), requester_);
  }

  kj::Promise<void> removeAccount(RemoveAccountContext context) override {
    requireOperator("change accounts");
    return server_.changePeople(master::AccountRemoved{text(context.getParams().getName())}, requester_);
  }

  kj::Promise<void> addToken(AddTokenContext context) override {
    const auto params = context.getParams();
    const std::string user = requireSelf(text(params.getUser()));
    return server_.makeToken(user, convert::readDuration(params.getLife(), "life"), caller_, requester_)
        .then([context](MasterServer::NewToken&& made) mutable {
          auto results = context.getResults();
          results.setToken(text(made.text));
          results.setId(made.id);
          results.setUntil(toWire(made.until));
        });
  }

  kj::Promise<void> tokens(TokensContext context) override {
    const auto& all = server_.logic().people().tokens();
    auto it = all.upper_bound(context.getParams().getAfter());
    std::vector<TokenRecord> told;
    for (; it != all.end() && told.size() < kMostInOneAnswer; ++it) {
      if (!maySteer(caller_, it->second.user)) continue;
      told.push_back(it->second);
      told.back().digest = {};  // nobody's to see
    }
    auto results = context.getResults();
    auto to = results.initTokens(static_cast<uint32_t>(told.size()));
    for (uint32_t i = 0; i < told.size(); ++i) write(told[i], to[i]);
    if (it != all.end()) results.setNext(told.back().id);
    return server_.synced();
  }

  kj::Promise<void> revokeToken(RevokeTokenContext context) override {
    const std::string of = caller_.role == Role::kOperate ? "" : caller_.user;
    return server_.changePeople(master::TokenRevoked{context.getParams().getId(), of}, requester_);
  }

  kj::Promise<void> revokeTokens(RevokeTokensContext context) override {
    const std::string user = requireSelf(text(context.getParams().getUser()));
    return server_.changePeople(master::TokensRevoked{user}, requester_);
  }

  kj::Promise<void> putSecret(PutSecretContext context) override {
    const auto params = context.getParams();
    const auto sent = params.getValue();
    // What is too large is nobody's to copy.
    const SecretBytes value(
        std::span<const uint8_t>(sent.begin(), std::min(sent.size(), kMaxSecretBytes + 1)));
    overwrite(sent);
    return server_.secrets()
        .put(requireOwner(params), text(params.getName()), value, requester_)
        .then([context](uint64_t version) mutable { context.getResults().setVersion(version); });
  }

  kj::Promise<void> secrets(SecretsContext context) override {
    const auto& all = server_.logic().secrets().all();
    const auto after = context.getParams().getAfter();
    auto it = all.upper_bound({text(after.getOwner()), text(after.getName())});
    std::vector<SecretRecord> told;
    for (; it != all.end() && told.size() < kMostInOneAnswer; ++it) {
      const SecretRecord& secret = it->second;
      const bool isOwn = maySteer(caller_, secret.owner);
      if (!isOwn && !isFor(secret, caller_.user)) continue;
      told.push_back({.owner = secret.owner,
                      .name = secret.name,
                      .grants = isOwn ? secret.grants : std::vector<SecretGrant>(),
                      .value = {.key = secret.value.key},
                      .version = secret.version,
                      .changed = secret.changed});
    }
    auto results = context.getResults();
    auto to = results.initSecrets(static_cast<uint32_t>(told.size()));
    for (uint32_t i = 0; i < told.size(); ++i) write(told[i], to[i]);
    if (it != all.end()) {
      results.initNext().setOwner(text(told.back().owner));
      results.getNext().setName(text(told.back().name));
    }
    return server_.synced();
  }

  kj::Promise<void> grantSecret(GrantSecretContext context) override {
    const auto params = context.getParams();
    std::string owner = requireOwner(params), name = text(params.getName());
    SecretGrant grant = read(params.getGrant());
    if (params.getRevoke()) {
      return server_.changeSecrets(master::SecretRevoked{std::move(owner), std::move(name), std::move(grant)},
                                   requester_);
    }
    return server_.changeSecrets(master::SecretGranted{std::move(owner), std::move(name), std::move(grant)},
                                 requester_);
  }

  kj::Promise<void> deleteSecret(DeleteSecretContext context) override {
    const auto params = context.getParams();
    return server_.changeSecrets(master::SecretDeleted{requireOwner(params), text(params.getName())},
                                 requester_);
  }

  kj::Promise<void> rekeySecrets(RekeySecretsContext context) override {
    requireOperator("seal secrets anew");
    return server_.secrets().rekey(requester_).then([context](SecretKeeper::Rekeyed&& rekeyed) mutable {
      context.getResults().setSealed(rekeyed.sealed);
      context.getResults().setLeft(rekeyed.left);
    });
  }

  kj::Promise<void> crons(CronsContext context) override {
    const auto after = context.getParams().getAfter();
    std::vector<CronView> crons =
        server_.logic().crons(caller_, {text(after.getUser()), text(after.getName())}, kCronsInOneAnswer);
    auto results = context.getResults();
    auto to = results.initCrons(static_cast<uint32_t>(crons.size()));
    for (uint32_t i = 0; i < crons.size(); ++i) {
      crons[i].cron.spec.job = {};
      write(crons[i], to[i]);
    }
    if (crons.size() == kCronsInOneAnswer) {
      auto next = results.initNext();
      next.setUser(text(crons.back().cron.user));
      next.setName(text(crons.back().cron.spec.name));
    }
    return server_.synced();
  }

  kj::Promise<void> cron(CronContext context) override {
    const std::string asked = text(context.getParams().getUser()),
                      user = asked.empty() ? caller_.user : asked, name = text(context.getParams().getName());
    // Nothing is looked up for those who may not see it: its next times take a while to find.
    const auto cron =
        maySteer(caller_, user) ? server_.logic().cron({user, name}, kCronTimesShown) : std::nullopt;
    if (!cron) {
      return toException(
          notFound(user + " has no cron " + shown(name) + "; `tarcil cron list` shows those that there are"));
    }
    write(*cron, context.getResults().initCron());
    return server_.synced();
  }

  kj::Promise<void> steerCron(SteerCronContext context) override {
    const auto params = context.getParams();
    const auto change = convert::fromWireEnum<master::CronChange>(params.getChange(), 4, "CronChange");
    const JobId job = change == master::CronChange::kRun ? readJobId(params.getJob()) : JobId{};
    return server_.steerCron({.request = 0,
                              .caller = caller_,
                              .user = text(params.getUser()),
                              .name = text(params.getName()),
                              .change = change,
                              .job = job,
                              .requester = requester_});
  }

  kj::Promise<void> backup(BackupContext context) override {
    requireOperator("back the store up");
    std::string folder = text(context.getParams().getFolder());
    server_.note({.by = requester_, .action = "store.backup", .object = "folder " + folder});
    return server_.backup(std::move(folder));
  }

  kj::Promise<void> audit(AuditContext context) override {
    requireOperator("read the audit log");
    if (server_.trail() == nullptr)
      return toException({ErrorCode::kConflict, "this master keeps no audit log"});
    const auto params = context.getParams();
    const audit::Position from{params.getFile(), params.getOffset()};
    audit::Filter filter{.since = wallTime(params.getSince()),
                         .until = wallTime(params.getUntil()),
                         .user = text(params.getUser()),
                         .action = text(params.getAction())};
    return server_.synced()
        .then([this, from, filter = std::move(filter)]() mutable {
          return server_.trail()->read(from, std::move(filter));
        })
        .then([context](AuditTrail::Answer&& told) mutable {
          auto results = context.getResults();
          auto lines = results.initLines(static_cast<uint32_t>(told.page.lines.size()));
          for (uint32_t i = 0; i < lines.size(); ++i) {
            const std::string& line = told.page.lines[i];
            lines.set(i, convert::data(line));
          }
          results.setFile(told.page.file);
          results.setNextFile(told.page.next.file);
          results.setNextOffset(told.page.next.offset);
          results.setMore(told.page.more);
          results.setHead(told.head.sequence);
          results.setHash(kj::ArrayPtr(told.head.hash.data(), told.head.hash.size()));
        });
  }

  kj::Promise<void> stepDown(StepDownContext context) override {
    requireOperator("have the master step down");
    const std::string term = std::to_string(context.getParams().getTerm());
    server_.note({.by = requester_, .action = "master.step-down", .object = "term " + term});
    return server_.stepDown(context.getParams().getTerm());
  }

  kj::Promise<void> agents(AgentsContext context) override {
    const auto agents = server_.logic().agents(text(context.getParams().getAfter()), kMostInOneAnswer);
    auto to = context.getResults().initAgents(static_cast<uint32_t>(agents.size()));
    const auto behind = server_.behind();
    for (uint32_t i = 0; i < agents.size(); ++i) {
      write(agents[i], to[i]);
      const auto lag = behind.find(agents[i].name);
      if (lag != behind.end()) to[i].setBehind(static_cast<uint64_t>(lag->second.count()));
    }
    if (agents.size() == kMostInOneAnswer) context.getResults().setNext(text(agents.back().name));
    context.getResults().setWarning(text(server_.logic().warning()));
    return server_.synced();
  }

  kj::Promise<void> steerServers(SteerServersContext context) override {
    requireOperator("cordon, drain or remove servers");
    auto params = context.getParams();
    const auto deadline =
        static_cast<int64_t>(std::min<uint64_t>(params.getDeadline(), kMaxDeadline.count()));
    return server_.steerServers(convert::readTexts(params.getNames()),
                                convert::fromWireEnum<master::ServerChange>(params.getChange(), 4, "change"),
                                Duration(deadline), caller_, requester_);
  }

  kj::Promise<void> watchDrain(WatchDrainContext context) override {
    const std::string name = text(context.getParams().getName());
    const uint32_t seen = context.getParams().getSeen();
    context.allowCancellation();
    return watchDrainOf(name, seen).then([context](Drain&& drain) mutable {
      context.getResults().setTasks(drain.tasks);
      context.getResults().setDraining(drain.draining);
    });
  }

  kj::Promise<void> queue(QueueContext context) override {
    const uint32_t limit = std::min(context.getParams().getLimit(), kMaxWaitingShown);
    const std::vector<WaitingJob> jobs = server_.waitingJobs(caller_, limit);
    auto to = context.getResults().initJobs(static_cast<uint32_t>(jobs.size()));
    for (uint32_t i = 0; i < jobs.size(); ++i) write(jobs[i], server_.expectedStart(jobs[i]), to[i]);
    context.getResults().setWaiting(static_cast<uint32_t>(server_.logic().load().waiting));
    return server_.synced();
  }

  kj::Promise<void> buckets(BucketsContext context) override {
    const auto buckets = server_.buckets(context.getParams().getFirst(), kMostInOneAnswer);
    auto to = context.getResults().initBuckets(static_cast<uint32_t>(buckets.size()));
    for (uint32_t i = 0; i < buckets.size(); ++i) write(buckets[i], to[i]);
    if (buckets.size() == kMostInOneAnswer) context.getResults().setNext(buckets.back().summary.bucket + 1);
    return kj::READY_NOW;
  }

  kj::Promise<void> changes(ChangesContext context) override {
    context.allowCancellation();
    const auto params = context.getParams();
    return changesBehind(params.getInstance(), params.getAfter(), context);
  }

  kj::Promise<void> usage(UsageContext context) override {
    const auto usages =
        server_.logic().usage(caller_, text(context.getParams().getAfter()), kMostInOneAnswer);
    auto to = context.getResults().initUsers(static_cast<uint32_t>(usages.size()));
    for (uint32_t i = 0; i < usages.size(); ++i) write(usages[i], to[i]);
    if (usages.size() == kMostInOneAnswer) context.getResults().setNext(text(usages.back().user));
    return server_.synced();
  }

 private:
  // Somebody else's job looks as if it were not there. Gives its summary.
  JobSummary requireVisible(const JobId& id) {
    auto job = server_.logic().summary(id);
    if (!job || !maySteer(caller_, job->user)) {
      kj::throwFatalException(
          toException(notFound("there is no job " + toString(id) + "; see: tarcil job list")));
    }
    return std::move(*job);
  }

  void writeNames(const std::set<ServerId>& servers, capnp::List<wire::ServerName>::Builder to) {
    uint32_t i = 0;
    for (ServerId id : servers) {
      const ServerFacts* facts = server_.logic().facts(id);
      write(facts ? ServerName{id, facts->name, facts->platform} : ServerName{id, "?", "?"}, to[i++]);
    }
  }

  template <typename Record>
  struct NamedPage {
    std::vector<const Record*> told;
    bool isCut = false;
  };

  // For operators those behind the name, for others their own.
  template <typename Record>
  NamedPage<Record> pageOf(const std::map<std::string, Record>& all, const std::string& after,
                           const Record* own) const {
    if (caller_.role != Role::kOperate)
      return {own != nullptr && after.empty() ? std::vector{own} : std::vector<const Record*>{}};
    NamedPage<Record> page;
    auto it = all.upper_bound(after);
    for (; it != all.end() && page.told.size() < kMostInOneAnswer; ++it) page.told.push_back(&it->second);
    page.isCut = it != all.end();
    return page;
  }

  void requireOperator(const char* what) {
    if (caller_.role == Role::kOperate) return;
    refuse(what,
           denied("user " + caller_.user + " may not " + what + ": that takes a token with role operate"));
  }

  // Who may not do something, and tries.
  [[noreturn]] void refuse(const char* what, const Error& error) {
    server_.note({.by = requester_, .action = "refused", .object = what, .outcome = name(error.code)});
    kj::throwFatalException(toException(error));
  }

  JobPosition positionOf(JobPosition position) {
    if (position.submitted == kNever) position.submitted = requireVisible(position.id).submitted;
    return position;
  }

  struct Drain {
    uint32_t tasks = 0;
    bool draining = false;
  };

  kj::Promise<Drain> watchDrainOf(const std::string& name, uint32_t seen) {
    const auto view = server_.logic().server(name);
    if (!view) return toException(noSuchServer(name));
    const Drain drain{static_cast<uint32_t>(view->tasks.size()), view->draining};
    if (drain.tasks != seen || !drain.draining) {
      return server_.synced().then([drain]() { return drain; });
    }
    return server_.serverChanged(view->id, caller_).then([this, name, seen]() {
      return watchDrainOf(name, seen);
    });
  }

  // The change must be registered before the answer is awaited, so that none is missed.
  kj::Promise<RunState> waitFor(const JobId& id) {
    const RunState state = requireVisible(id).state;
    if (isFinal(state)) {
      return server_.synced().then([state]() { return state; });
    }
    return server_.jobChanged(id, caller_).then([this, id]() { return waitFor(id); });
  }

  TaskRecord requireTask(const JobId& id, TaskIndex index) {
    const JobSummary job = requireVisible(id);
    if (index >= job.tasks) {
      kj::throwFatalException(
          toException(notFound("job " + toString(id) + " has no task " + std::to_string(index) + ": it has " +
                               std::to_string(job.tasks) + ", from 0")));
    }
    return *server_.logic().task(id, index);
  }

  kj::Promise<void> changesBehind(uint64_t instance, uint64_t after, ChangesContext context) {
    const ChangeLog& log = server_.changeLog();
    const auto changes = instance == log.instance() ? log.behind(after, kChangesInOneAnswer) : std::nullopt;
    if (changes && changes->empty()) {
      return server_.somethingChanged(caller_).then(
          [this, instance, after, context]() { return changesBehind(instance, after, context); });
    }
    auto results = context.getResults();
    results.setInstance(log.instance());
    results.setWaiting(static_cast<uint32_t>(server_.logic().load().waiting));
    results.setMissed(!changes);
    results.setNext(changes ? writeChanges(*changes, results) : log.last());
    return server_.synced();
  }

  void tell(ServerView& server, wire::ServerDetails::Builder to) const {
    server_.logic().hideOthers(caller_, server);
    write(server, to);
    if (const auto bucket = server_.bucketOf(server.id)) to.setBucket(static_cast<int32_t>(*bucket));
  }

  // The place behind what fits into one answer.
  uint64_t writeChanges(const std::vector<ChangeLog::Change>& changes,
                        wire::UserPort::ChangesResults::Builder to) {
    std::vector<JobSummary> jobs;
    std::vector<ServerView> servers;
    Page page;
    uint64_t next = changes.front().number - 1;
    for (const ChangeLog::Change& change : changes) {
      if (const auto* id = std::get_if<JobId>(&change.what)) {
        auto job = server_.logic().summary(*id);
        if (job && maySteer(caller_, job->user)) {
          if (!page.takes(kBytesOfSummary + job->name.size() + job->reason.size())) break;
          jobs.push_back(std::move(*job));
        }
      } else {
        auto server = server_.logic().serversWithoutTasks(std::get<ServerId>(change.what), 1);
        if (!server.empty() && server.front().id == std::get<ServerId>(change.what)) {
          if (!page.takes(wireBytesOf(server.front()))) break;
          servers.push_back(std::move(server.front()));
        }
      }
      next = change.number;
    }
    auto jobsTo = to.initJobs(static_cast<uint32_t>(jobs.size()));
    for (uint32_t i = 0; i < jobs.size(); ++i) write(jobs[i], jobsTo[i]);
    auto serversTo = to.initServers(static_cast<uint32_t>(servers.size()));
    for (uint32_t i = 0; i < servers.size(); ++i) tell(servers[i], serversTo[i]);
    return next;
  }

  // The task as it was at the attempt with this allocation.
  kj::Promise<TaskRecord> locateAttempt(const JobId& id, TaskIndex index, AllocationId allocation) {
    TaskRecord task = requireTask(id, index);
    const auto earlier = std::ranges::find(task.earlier, allocation, &EarlierAttempt::allocation);
    if (earlier != task.earlier.end()) {
      task.allocation = allocation;
      task.server = earlier->server;
      task.state = RunState::kLost;
    } else if (task.allocation != allocation) {
      return toException(notFound("task " + std::to_string(index) + " of job " + toString(id) +
                                  " does not remember that attempt"));
    }
    return server_.synced().then([task = std::move(task)]() mutable { return std::move(task); });
  }

  kj::Promise<TaskRecord> locateTask(const JobId& id, TaskIndex index, AllocationId after) {
    TaskRecord task = requireTask(id, index);
    const bool isWaiting = task.state == RunState::kQueued || task.state == RunState::kStarting;
    const bool isKnown = after != 0 && task.allocation == after && !isFinal(task.state);
    if (!isWaiting && !isKnown) {
      return server_.synced().then([task = std::move(task)]() mutable { return std::move(task); });
    }
    return server_.jobChanged(id, caller_).then([this, id, index, after]() {
      return locateTask(id, index, after);
    });
  }

  Status mayCall() const override { return whyEnded_; }
  void refusedToReader(const char* method) override {
    server_.note(
        {.by = requester_, .action = "refused", .object = method, .outcome = name(ErrorCode::kDenied)});
  }

  // Of a call that names a user, or nobody for oneself.
  std::string requireSelf(const std::string& user) {
    if (user.empty() || maySteer(caller_, user)) return user.empty() ? caller_.user : user;
    refuse("change tokens of others", denied("tokens of " + user + " are for that user and for operators"));
  }

  // Of a call that names the owner of a secret, or nobody for oneself.
  template <typename Params>
  std::string requireOwner(Params params) {
    const std::string owner = text(params.getOwner());
    if (owner.empty() || maySteer(caller_, owner)) return owner.empty() ? caller_.user : owner;
    refuse("change secrets of others",
           denied("secrets of " + owner + " are for that user and for operators"));
  }

  MasterServer& server_;
  const Caller caller_;
  const audit::Requester requester_;
  const Transport transport_;
  Status whyEnded_;  // why what the caller logged in with no longer holds
  kj::ForkedPromise<void> ended_;
};

}  // namespace

wire::UserPort::Client makeUserPort(MasterServer& server, Caller caller, const LoginProof& shown,
                                    audit::Requester requester, Transport transport) {
  auto user = server.fairCalls().user(caller.user);
  return kj::heap<UserPortImpl>(server, kj::mv(user), std::move(caller), shown, std::move(requester),
                                transport);
}

}  // namespace tarcil
