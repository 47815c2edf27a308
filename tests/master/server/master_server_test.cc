// The master's shell in one process: what it answers to calls of monitors.
#include "master/server/master_server.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <condition_variable>
#include <mutex>

#include "master/store/memory_store.h"
#include "rpc/errors.h"

namespace tarcil::master_server_test {

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

// Keeps each write back until the test lets it go.
class HeldStore final : public Store {
 public:
  Result<StoreContents> load() override { return inner_.load(); }
  Status write(std::span<const Mutation> mutations) override {
    std::unique_lock lock(mutex_);
    allowed_.wait(lock, [this]() { return writes_ > 0; });
    --writes_;
    return inner_.write(mutations);
  }
  Result<FilePiece> filePiece(const JobId& job, uint32_t piece) override {
    return inner_.filePiece(job, piece);
  }
  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override { return inner_.decisions(job); }
  Status backup(const std::string& folder) override { return inner_.backup(folder); }
  Result<StoreSpace> space() override { return inner_.space(); }

  void allow(int writes) {
    const std::lock_guard lock(mutex_);
    writes_ = writes;
    allowed_.notify_one();
  }

 private:
  MemoryStore inner_;
  std::mutex mutex_;
  std::condition_variable allowed_;
  int writes_ = 0;
};

TEST(MasterServer, TellsInMetricsOnlyOfWhatIsOnDisk) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  HeldStore store;
  store.allow(1);  // a new store's first records
  MasterServer server(net, systemClock(), Rng(1), store, *store.load(), {}, {},
                      [](const Error& error) { ADD_FAILURE() << error.message; });
  server.synced().wait(io.waitScope);
  EXPECT_NE(server.metrics().wait(io.waitScope).find("tarcil_master_monitor_leases 0"), std::string::npos);
  ServerFacts facts;
  facts.name = "s1";
  facts.platform = "default";
  facts.rus = 1;
  auto attached = server.attachMonitor(server.newSession(), "identity", {facts}, {}, nullptr);
  auto metrics = server.metrics();
  kj::evalLast([]() {}).wait(io.waitScope);
  EXPECT_FALSE(metrics.poll(io.waitScope));
  store.allow(1);
  EXPECT_NE(metrics.wait(io.waitScope).find("tarcil_master_monitor_leases 1"), std::string::npos);
  attached.wait(io.waitScope);
}

}  // namespace tarcil::master_server_test
