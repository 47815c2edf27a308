// The master's shell in one process: what it answers to calls of monitors.
#include "master/master_server.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "master/memory_store.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// Whether the promise came to an end, and how.
Status outcome(kj::Promise<void> promise, kj::WaitScope& scope) {
  return promise
      .then([]() -> Status { return {}; },
            [](kj::Exception&& exception) -> Status { return fromException(exception); })
      .wait(scope);
}

TEST(MasterServer, RefusesReportsThroughASessionThatWasReplaced) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  MemoryStore store;
  MasterServer server(net, systemClock(), Rng(1), store, *store.load(), {}, {},
                      [](const Error& error) { ADD_FAILURE() << error.message; });
  ServerFacts facts;
  facts.name = "s1";
  facts.platform = "default";
  facts.rus = 1;
  const SessionId first = server.newSession(), second = server.newSession();
  for (const SessionId session : {first, second}) {
    server.attachMonitor(session, "identity", {facts}, {}, nullptr).wait(io.waitScope);
  }
  EXPECT_TRUE(outcome(server.report(second, {}), io.waitScope).ok());
  const Status refused = outcome(server.report(first, {}), io.waitScope);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace tarcil
