// The master's shell in one process: what it answers to calls of monitors.
#include "master/server/master_server.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <algorithm>
#include <climits>
#include <condition_variable>
#include <mutex>

#include "core/model/task_secret.h"
#include "master/server/secret_keeper.h"
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
    mostPieces_ = std::max(mostPieces_, std::ranges::count_if(mutations, isPiece));
    return inner_.write(mutations);
  }
  // In one batch. Requires: nothing is being written.
  ptrdiff_t mostPieces() const { return mostPieces_; }
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
  static bool isPiece(const Mutation& mutation) {
    const auto* put = std::get_if<Put>(&mutation);
    return put != nullptr && std::holds_alternative<FilesRecord>(put->record);
  }

  MemoryStore inner_;
  ptrdiff_t mostPieces_ = 0;
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

// How often the event loop serves somebody who asks again and again.
kj::Promise<void> countTurns(kj::Timer& timer, size_t& turns) {
  return timer.afterDelay(0 * kj::SECONDS).then([&timer, &turns]() {
    ++turns;
    return countTurns(timer, turns);
  });
}

TEST(MasterServer, ReadsMetricsInStepsBetweenWhichOthersAreServed) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  MemoryStore store;
  MasterServer server(net, systemClock(), Rng(1), store, *store.load(), {}, {},
                      [](const Error& error) { ADD_FAILURE() << error.message; });
  std::vector<ServerFacts> servers(4 * SurveyMetrics::kSeenAtOnce);
  for (size_t i = 0; i < servers.size(); ++i) {
    servers[i].name = "server-" + std::to_string(i);
    servers[i].platform = "default";
    servers[i].rus = 1;
  }
  server.attachMonitor(server.newSession(), "m", servers, {}, nullptr).wait(io.waitScope);
  server.synced().wait(io.waitScope);
  auto first = server.metrics(), second = server.metrics();
  size_t turns = 0;
  const auto others = countTurns(net.timer, turns).eagerlyEvaluate(nullptr);
  const std::string text = first.wait(io.waitScope);
  EXPECT_GE(turns, 4u);
  EXPECT_NE(text.find("tarcil_master_server_contention{server=\"server-3999\"} 0\n"), std::string::npos);
  EXPECT_EQ(second.wait(io.waitScope), text) << "who comes meanwhile gets the same";
}

class DeafFeed final : public wire::AgentFeed::Server {
  kj::Promise<void> update(UpdateContext) override { return kj::READY_NOW; }
};

TEST(MasterServer, PutsAtMostOnePieceIntoABatch) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  HeldStore store;
  store.allow(INT_MAX);
  MasterServer server(net, systemClock(), Rng(1), store, *store.load(), {}, {},
                      [](const Error& error) { ADD_FAILURE() << error.message; });
  const SessionId session = server.newSession();
  server.attachAgent(session, "x", 0, "unix:/nowhere", kj::heap<DeafFeed>()).wait(io.waitScope);
  const auto files = std::make_shared<const FilePiece>(FilePiece{{"f", 0644, "content"}});
  kj::Vector<kj::Promise<bool>> stored;
  for (uint8_t job = 1; job <= 4; ++job) {
    JobId id;
    id.bytes.fill(job);
    stored.add(server.takePiece({0, session, id, "alice", 1'000, 0, files}));
  }
  for (auto& each : stored) EXPECT_FALSE(each.wait(io.waitScope));
  EXPECT_EQ(store.mostPieces(), 1);
}

// --- Secrets

class KeepsSecrets : public testing::Test {
 protected:
  ~KeepsSecrets() noexcept override {}

  uint64_t put(const std::string& name, const SecretBytes& value) {
    return keeper().put("ann", name, value, {}).wait(io_.waitScope);
  }
  Status whyNotPut(const SecretBytes& value) {
    return outcome(keeper().put("ann", "db", value, {}).ignoreResult(), io_.waitScope);
  }
  SecretKeeper& keeper() { return server_.secrets(); }
  static SecretKeys keys(const std::string& letters) {
    std::string text;
    for (const char letter : letters) text += std::string(64, letter) + "\n";
    return *SecretKeys::parse(text);
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  MemoryStore store_;
  MasterServer server_{{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()},
                       systemClock(),
                       Rng(1),
                       store_,
                       *store_.load(),
                       {},
                       {},
                       [](const Error& error) { ADD_FAILURE() << error.message; }};
};

TEST_F(KeepsSecrets, SealedInTheStoreBeforeItAnswers) {
  keeper().setKeys(keys("a"));
  EXPECT_EQ(put("db", SecretBytes(std::string_view("hunter2"))), 1u);
  const auto stored = store_.load()->secrets;
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].value.bytes.find("hunter2"), std::string::npos);
  EXPECT_EQ(keys("a").open(stored[0])->text(), "hunter2");
  EXPECT_EQ(put("db", SecretBytes(std::string_view("other"))), 2u);
}

TEST_F(KeepsSecrets, NotWithoutAKeyAndNotOfAnySize) {
  const SecretBytes value(std::string_view("hunter2"));
  EXPECT_EQ(whyNotPut(value).error().code, ErrorCode::kConflict);
  EXPECT_EQ(outcome(keeper().rekey({}).ignoreResult(), io_.waitScope).error().code, ErrorCode::kConflict);
  keeper().setKeys(keys("a"));
  EXPECT_EQ(whyNotPut(SecretBytes()).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(whyNotPut(SecretBytes(kMaxSecretBytes + 1)).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(whyNotPut(SecretBytes(kMaxSecretBytes)).ok());
  EXPECT_EQ(keeper().warning(), "");
  keeper().setKeys(keys("b"));
  EXPECT_NE(keeper().warning().find("1 secret is sealed with the key"), std::string::npos);
  EXPECT_EQ(outcome(keeper().rekey({}).ignoreResult(), io_.waitScope).error().code, ErrorCode::kConflict);
}

TEST_F(KeepsSecrets, SealedAnewInPieces) {
  keeper().setKeys(keys("a"));
  constexpr uint32_t kSecrets = 40;
  for (uint32_t i = 0; i < kSecrets; ++i) put("s" + std::to_string(i), SecretBytes(kMaxSecretBytes));
  keeper().setKeys(keys("ba"));
  uint32_t sealed = 0, calls = 0, left = kSecrets;
  while (left > 0) {
    const auto rekeyed = keeper().rekey({}).wait(io_.waitScope);
    EXPECT_LE(rekeyed.sealed * kMaxSecretBytes, size_t{1} << 20);
    ASSERT_GT(rekeyed.sealed, 0u);
    sealed += rekeyed.sealed;
    left = rekeyed.left;
    EXPECT_EQ(sealed + left, kSecrets);
    ++calls;
  }
  EXPECT_EQ(calls, 3u);
  const auto stored = store_.load()->secrets;
  for (const SecretRecord& secret : stored) EXPECT_TRUE(keys("b").open(secret).ok());
}

}  // namespace tarcil::master_server_test
