#include <spdlog/spdlog.h>

#include "core/base/failure.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "master/logic/startup.h"
#include "master/server/master_ports.h"
#include "master/server/read_only_gate.h"
#include "master/store/drop_jobs.h"
#include "master/store/rocks/next_store.h"
#include "master/store/rocks/rocks_store.h"

namespace tarcil {
namespace {

// Where the file cannot be used the tokens stay as they were.
void readTokensAgain(const std::string& file, MasterServer& server) {
  auto tokens = TokenTable::read(file);
  if (!tokens) {
    spdlog::error("SIGHUP: the tokens stay as they were: {}", tokens.error().message);
    return;
  }
  server.setTokens(std::move(*tokens));
  spdlog::info("SIGHUP: the tokens in {} are read again; connections that are open stay", file);
}

void dropJobs(Store& store, StoreContents& contents, const std::vector<std::string>& ids) {
  const auto changes = dropJobs(contents, ids);
  if (!changes) throw badInput("--drop-job: " + changes.error().message);
  if (changes->empty()) return;
  if (const Status written = store.write(*changes); !written) {
    throw Failure(kExitNotStored, written.error().message);
  }
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

}  // namespace

int serveMaster(const MasterFlags& asGiven) {
  MasterFlags flags = asGiven;
  flags.store = absolutePath(flags.store);
  flags.tokens = absolutePath(flags.tokens);
  auto tokens = TokenTable::read(flags.tokens);
  if (!tokens) {
    throw badInput("--tokens: " + tokens.error().message +
                   "; `tarcil serve master --help` says what is in it");
  }
  if (flags.options.readOnly && !flags.dropJobs.empty()) {
    throw badInput("--drop-job: changes the store, which --read-only does not; give one of them");
  }
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  RoleProcess process("master", flags.role);
  process.allowManyPeers();
  const bool isReadOnly = flags.options.readOnly;
  if (!isReadOnly) takeRestored(flags.store);
  auto store = isReadOnly ? openRocksStoreReadOnly(flags.store) : openRocksStore(flags.store);
  if (!store.ok()) throw Failure(kExitBadInput, store.error().message);
  auto contents = (*store)->load();
  if (!contents.ok()) throw Failure(kExitFailed, contents.error().message);
  dropJobs(**store, *contents, flags.dropJobs);
  if (const Status fits = master::requireRoom(flags.options, *contents); !fits) {
    throw badInput(flags.store + ": " + fits.error().message);
  }
  Listener listener = process.listen(flags.listen);

  MasterServer server(process.net(), systemClock(), process.rng(), **store, std::move(*contents),
                      std::move(*tokens), flags.options, [&process](const Error& error) {
                        process.die(kExitNotStored,
                                    error.message + "; the master stops: nothing answered is lost");
                      });
  process.onHangup([&file = flags.tokens, &server]() { readTokensAgain(file, server); });
  process.serveMetrics([&server]() { return server.metrics(); });
  auto accepting = serve(process.net().timer, kj::mv(listener.receiver),
                         [&server, isReadOnly](LetIn letIn) -> capnp::Capability::Client {
                           if (isReadOnly) return makeReadOnlyGate(makeMasterGate(server, std::move(letIn)));
                           return makeMasterGate(server, std::move(letIn));
                         });
  // A new store's first records are on disk before anybody is told that the master is there.
  auto serving = server.synced().then([&process, accepting = kj::mv(accepting)]() mutable {
    process.ready();
    return kj::mv(accepting);
  });
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
