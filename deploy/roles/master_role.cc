#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "core/base/failure.h"
#include "core/base/hex.h"
#include "deploy/roles/master_keys.h"
#include "deploy/roles/role_identity.h"
#include "deploy/roles/roles.h"
#include "deploy/roles/secret_keys.h"
#include "deploy/roles/standby.h"
#include "env/clock.h"
#include "env/user_name.h"
#include "master/logic/startup.h"
#include "master/server/join_gate.h"
#include "master/server/leadership_metrics.h"
#include "master/server/master_ports.h"
#include "master/server/read_only_gate.h"
#include "master/server/registrar.h"
#include "master/server/secret_keeper.h"
#include "master/server/standby_gate.h"
#include "master/store/drop_jobs.h"
#include "master/store/etcd/etcd_store.h"
#include "master/store/rocks/next_store.h"
#include "master/store/rocks/rocks_store.h"

namespace tarcil {
namespace {

std::string localSocket(const std::string& data) {
  return "unix:" + data + "/run/master.sock";
}

void makeRunFolder(const std::string& data) {
  std::error_code problem;
  std::filesystem::create_directories(data + "/run", problem);
  if (problem) throw badInput(data + "/run: cannot be made: " + problem.message());
}

// Where the file cannot be used the tokens stay as they were. `server`: null of a master that stands by, at
// which nobody is logged in.
void readTokensAgain(const std::string& file, TokenTable& tokens, MasterServer* server) {
  auto read = TokenTable::readOwn(file);
  audit::Entry entry{.by = {.user = {}, .knownBy = "SIGHUP", .agent = {}, .address = audit::kThisMachine},
                     .action = "tokens.reload",
                     .object = "file " + file};
  if (!read) entry.outcome = name(read.error().code);
  if (server != nullptr) server->note(std::move(entry));
  if (!read) {
    spdlog::error("SIGHUP: the tokens stay as they were: {}", read.error().message);
    return;
  }
  tokens = std::move(*read);
  if (server != nullptr) server->setTokens(tokens);
  spdlog::info("SIGHUP: the tokens in {} are read again; logins that other lines allowed end", file);
}

void takeSecretKeys(const std::string& file, SecretKeys keys, MasterServer& server) {
  if (!keys.empty()) spdlog::info("secrets are sealed with the key {} of {}", keys.current(), file);
  server.secrets().setKeys(std::move(keys));
  if (const std::string warning = server.secrets().warning(); !warning.empty()) spdlog::warn("{}", warning);
}

// As for tokens.
void readSecretKeysAgain(const std::string& file, SecretKeys& keys, MasterServer* server) {
  auto read = readSecretKeys(file);
  if (!read) {
    spdlog::error("SIGHUP: the keys for secrets stay as they were: {}", read.error().message);
    return;
  }
  keys = std::move(*read);
  if (server != nullptr) {
    takeSecretKeys(file, keys, *server);
  } else if (!keys.empty()) {
    spdlog::info("SIGHUP: the keys for secrets in {} are read again: {}", file, keys.current());
  }
}

// What whoever starts the master asks of it.
audit::Entry entryOfStart(std::string action, std::string object) {
  return {.time = systemClock().now().wall,
          .by = {.user = userNameOf(::getuid()).value_or(""),
                 .knownBy = "start of the master",
                 .agent = {},
                 .address = audit::kThisMachine},
          .action = std::move(action),
          .object = std::move(object)};
}

void dropJobs(Store& store, StoreContents& contents, const std::vector<std::string>& ids, AuditTrail* trail) {
  auto changes = dropJobs(contents, ids);
  if (!changes) throw badInput("--drop-job: " + changes.error().message);
  if (changes->empty() || trail == nullptr) return;
  std::vector<audit::Entry> entries;
  for (const std::string& id : ids) entries.push_back(entryOfStart("job.drop", "job " + id));
  Status written = trail->seal(entries, systemClock().now().wall, *changes);
  if (written) written = store.write(*changes);
  if (!written) throw Failure(kExitNotStored, written.error().message);
  trail->stored();
}

std::unique_ptr<AuditTrail> openAudit(const MasterFlags& flags, std::vector<AuditRecord> stored,
                                      uint64_t term) {
  auto trail = AuditTrail::open({flags.audit, flags.auditLog, term}, std::move(stored));
  if (!trail) throw Failure(kExitBadInput, "--audit: " + trail.error().message);
  return std::move(*trail);
}

// The store that `tarcil master restore --at-next-start` left, if there is one.
void takeRestored(const std::string& store) {
  const auto former = takeNextStore(store, systemClock().now().wall);
  if (!former) throw Failure(kExitFailed, former.error().message);
  if (*former) {
    spdlog::info("{} is the restored store now{}", store,
                 (*former)->empty() ? "" : "; the one before is kept as " + **former);
  }
}

std::unique_ptr<Store> openInFolder(const MasterFlags& flags) {
  if (!flags.options.readOnly) takeRestored(flags.store);
  auto store = flags.options.readOnly ? openRocksStoreReadOnly(flags.store) : openRocksStore(flags.store);
  if (!store.ok()) throw Failure(kExitBadInput, store.error().message);
  return std::move(*store);
}

// What came of the wait. From then on the process ends at once when it does not lead any more.
std::unique_ptr<EtcdStore> takeStore(RoleProcess& process, Standby& standby) {
  auto& store = standby.store();
  if (!store.ok()) {
    throw Failure(store.error().code == ErrorCode::kInternal ? kExitFailed : kExitBadInput,
                  "--etcd: " + store.error().message);
  }
  spdlog::info("leads (term {})", (*store)->leadership().term());
  (*store)->leadership().onLost([&process](const Error& error) {
    process.die(kExitNotStored, error.message + "; the master stops: nothing answered is lost");
  });
  return std::move(*store);
}

MasterStanding leading(const std::string& address, uint64_t term) {
  return {.name = hostName(),
          .address = address,
          .pid = static_cast<uint64_t>(::getpid()),
          .leads = true,
          .term = term,
          .since = systemClock().now().wall,
          .leader = address};
}

// Input files lie in the store too: they leave room in etcd for the rest.
void boundFiles(MasterOptions& options, uint64_t quota) {
  options.maxFileBytes = std::min(options.maxFileBytes, quota / 4);
  options.maxFileBytesOfUser = std::min(options.maxFileBytesOfUser, quota / 4);
  options.keepFileBytes = std::min(options.keepFileBytes, quota / 8);
}

// Where nothing else is said, the master is where the identity says that others find it.
void completeAddresses(MasterFlags& flags, const RoleIdentity& identity) {
  if (flags.listen.empty()) flags.listen = identity.addresses.master;
  if (flags.listen.empty()) flags.listen = localSocket(flags.data);
  if (flags.join.empty()) flags.join = identity.addresses.join;
}

// Nobody would be served by a master whose certificate is revoked.
void requireAdmitted(const MasterServer& server, const Identity& identity) {
  if (const Status good = server.admits(identity); !good) throw Failure(kExitNoCluster, good.error().message);
}

// Operators of this machine, who are there before any agent is.
kj::Promise<void> serveHere(RoleProcess& process, const MasterFlags& flags, Greeter greet) {
  const std::string here = localSocket(flags.data);
  if (here == flags.listen) return kj::NEVER_DONE;
  makeRunFolder(flags.data);
  return serve(process.net().timer, process.listenToo("for operators", here).receiver, kj::mv(greet));
}

kj::Promise<void> serveJoining(RoleProcess& process, const MasterFlags& flags, Registrar& registrar) {
  if (flags.join.empty()) return kj::NEVER_DONE;
  requireAddress("--join", flags.join, AddressUse::kListen);
  const Net net = process.net();
  return serve(
      net.timer, process.listenToo("--join", flags.join).receiver,
      [&registrar](LetIn letIn) -> capnp::Capability::Client {
        return makeJoinGate(registrar, std::move(letIn));
      },
      net.security, Demand::kJoining);
}

}  // namespace

int serveMaster(const MasterFlags& asGiven) {
  MasterFlags flags = asGiven;
  flags.data = absolutePath(flags.data);
  const auto authority = requireInput(readAuthority(flags.data));
  if (authority && !flags.options.readOnly) renewIfExpired(flags.data, *authority, flags.certificateLife);
  const RoleIdentity identity = readRoleIdentity(flags.data, MemberRole::kMaster);
  completeAddresses(flags, identity);
  flags.store = absolutePath(flags.store);
  flags.tokens = absolutePath(flags.tokens);
  flags.audit = absolutePath(flags.audit);
  auto tokens = TokenTable::readOwn(flags.tokens);
  if (!tokens) {
    throw badInput("--tokens: " + tokens.error().message +
                   "; `tarcil serve master --help` says what is in it");
  }
  const std::string secretsKey = secretKeysFile(
      flags.secretsKey.empty() ? flags.secretsKey : absolutePath(flags.secretsKey), flags.data);
  auto secretKeys = readSecretKeys(secretsKey);
  if (!secretKeys) {
    throw badInput("--secrets-key: " + secretKeys.error().message + "; docs/secrets.md says what is in it");
  }
  if (flags.options.readOnly && !flags.dropJobs.empty()) {
    throw badInput("--drop-job: changes the store, which --read-only does not; give one of them");
  }
  if (flags.options.readOnly && flags.etcd.isGiven()) {
    throw badInput(
        "--read-only: shows a store in a folder; copy the one in etcd with `tarcil master export`, and show "
        "that");
  }
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  RoleProcess process("master", flags.role, identity.credentials);
  process.allowManyPeers();
  process.keepFilesPrivate();
  const bool isReadOnly = flags.options.readOnly;
  const std::vector<std::string> masters = addressesIn("--masters", flags.masters);
  const Net net = process.net();
  std::unique_ptr<etcd::Client> etcd;
  std::unique_ptr<Standby> standby;
  std::unique_ptr<Store> store;
  std::unique_ptr<AuditTrail> trail;
  std::unique_ptr<MasterServer> server;
  process.onHangup([&]() {
    readTokensAgain(flags.tokens, *tokens, server.get());
    readSecretKeysAgain(secretsKey, *secretKeys, server.get());
  });
  LeaderNews news;
  const StandbyContext context{[&standby]() { return standby->standing(); }, news, *tokens};
  const auto greet = [&server, &context, isReadOnly](LetIn letIn) -> capnp::Capability::Client {
    if (server == nullptr) return makeStandbyGate(context, std::move(letIn));
    if (isReadOnly) return makeReadOnlyGate(makeMasterGate(*server, std::move(letIn)));
    return makeMasterGate(*server, std::move(letIn));
  };
  EtcdStore* inEtcd = nullptr;
  LeadershipMetrics leadership;
  process.serveMetrics([&]() -> kj::Promise<std::string> {
    if (server == nullptr) return leadership.text(standby->standing(), {});
    const auto journal = inEtcd != nullptr ? inEtcd->journalLength() : EtcdStore::JournalLength();
    std::string more = leadership.text(server->standing(), {journal.batches, journal.bytes});
    return server->metrics().then([more = std::move(more)](std::string&& text) { return text + more; });
  });
  std::unique_ptr<Registrar> registrar;
  std::unique_ptr<CertificateRenewal> renewal;
  if (authority && !isReadOnly) {
    // A master that stands by signs for itself; of one that leads the store has a list.
    renewal =
        keepFresh(process, flags.data, identity, [&](const std::string& request) -> kj::Promise<std::string> {
          const Identity& shown = identity.facts->identity;
          if (registrar != nullptr) return registrar->renew(shown, request, "");
          return requireInput(signOwn(*authority, shown, request, flags.certificateLife));
        });
  }
  std::string address;
  kj::Promise<void> accepting = nullptr;
  const auto accept = [&]() {
    Listener listener = process.listen(flags.listen);
    address = listener.address;
    accepting = serve(net.timer, kj::mv(listener.receiver), greet, net.security).eagerlyEvaluate(nullptr);
  };
  uint64_t term = 0;
  if (flags.etcd.isGiven()) {
    etcd = openEtcd(flags.etcd);
    boundFiles(flags.options, flags.etcd.store.quota);
    accept();
    EtcdStoreOptions options = flags.etcd.store;
    options.leadership.who = whoLeads(address);
    if (identity.credentials)
      options.authority = hexOf(requireInput(fingerprintOf(identity.credentials->authority)));
    options.followsWhileWaiting = true;
    spdlog::info("the store is in etcd under {}; waits until no other master leads", options.prefix);
    standby = std::make_unique<Standby>(*etcd, options, process.rng(), address);
    const auto standingBy =
        standby->standsBy().then([&process]() { process.ready(); }).eagerlyEvaluate(nullptr);
    const auto telling = standby->tell(news).eagerlyEvaluate(nullptr);
    if (!process.waitFor(standby->decided())) return kExitDone;
    auto leads = takeStore(process, *standby);
    inEtcd = leads.get();
    term = static_cast<uint64_t>(leads->leadership().term());
    store = std::move(leads);
  } else {
    store = openInFolder(flags);
  }
  auto contents = store->load();
  if (!contents.ok()) throw Failure(kExitFailed, contents.error().message);
  if (!isReadOnly) trail = openAudit(flags, std::move(contents->audit), term);
  dropJobs(*store, *contents, flags.dropJobs, trail.get());
  if (const Status fits = master::requireRoom(flags.options, *contents); !fits) {
    throw badInput((etcd != nullptr ? flags.etcd.urls : flags.store) + ": " + fits.error().message);
  }
  if (etcd == nullptr) accept();

  server = std::make_unique<MasterServer>(
      net, systemClock(), process.rng(), *store, std::move(*contents), *tokens, flags.options,
      [&process](const Error& error) {
        process.die(kExitNotStored, error.message + "; the master stops: nothing answered is lost");
      },
      trail.get());
  if (renewal != nullptr) requireAdmitted(*server, renewal->facts().identity);
  server->note(entryOfStart("master.start", "master at " + flags.listen));
  takeSecretKeys(secretsKey, *secretKeys, *server);
  kj::Maybe<kj::Function<void()>> stepDown;
  if (etcd != nullptr) {
    stepDown = [&process]() {
      process.fail(kExitNotStored, "has stepped down; it stands by when it is started again");
    };
  }
  if (etcd != nullptr) server->reads().onThread();
  news.serves(term);
  server->setStanding(leading(address, term), kj::mv(stepDown));
  if (authority && !isReadOnly) {
    const std::string& known = identity.addresses.master;
    std::function<Result<MasterKeys>()> keys;
    if (etcd != nullptr) keys = [&]() { return readMasterKeys(*authority, flags.tokens, secretsKey); };
    registrar = std::make_unique<Registrar>(*server, systemClock(),
                                            RegistrarOptions{*authority, flags.certificateLife,
                                                             !masters.empty() ? listOf(masters)
                                                             : known.empty()  ? address
                                                                              : known,
                                                             keys});
    server->setRegistrar(*registrar);
  }
  if (registrar != nullptr) {
    accepting = accepting.exclusiveJoin(serveHere(process, flags, greet))
                    .exclusiveJoin(serveJoining(process, flags, *registrar));
  }
  // A new store's first records are on disk before anybody is told that the master is there.
  auto listed =
      registrar != nullptr && renewal != nullptr ? registrar->note(renewal->facts()) : kj::READY_NOW;
  auto serving = listed.then([&server]() { return server->synced(); })
                     .then([&process, accepting = kj::mv(accepting)]() mutable {
                       process.ready();
                       return kj::mv(accepting);
                     });
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
