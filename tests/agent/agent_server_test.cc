// The agent's shell against a master that is only played: real sockets, nothing behind them.
#include "agent/agent_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <stdlib.h>

#include <filesystem>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "tests/support/builders.h"

namespace tarcil {
namespace {

using testing::ElementsAre;

// Attaches whoever comes, with one server of one unit; fails the first commit for no good reason, and refuses
// all others.
struct PlayedMaster {
  int attachments = 0;
  std::vector<uint64_t> commits;  // sequences, in the order of their coming
};

class PlayedPort final : public wire::AgentPort::Server {
 public:
  explicit PlayedPort(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> attach(AttachContext context) override {
    ++master_.attachments;
    context.getResults().setEpoch(1);
    auto request = context.getParams().getFeed().updateRequest();
    ServerUpdate update;
    update.facts.emplace().name = "s1";
    update.facts->rus = 1;
    update.status.version = 1;
    update.status.up = true;
    update.status.free.insert(0);
    write(update, request.initServers(1)[0]);
    write(QualitySettings{}, request.initSettings());
    request.setSnapshotComplete(true);
    fed_ = request.send().ignoreResult().eagerlyEvaluate(nullptr);
    return kj::READY_NOW;
  }
  kj::Promise<void> commit(CommitContext context) override {
    const uint64_t sequence = read(context.getParams().getCommit()).sequence;
    master_.commits.push_back(sequence);
    if (master_.commits.size() == 1) return toException({ErrorCode::kInternal, "for once"});
    CommitAnswer answer;
    answer.sequence = sequence;
    answer.outcome = CommitAnswer::Outcome::kRefused;
    answer.problem = "no";
    write(answer, context.getResults().initAnswer());
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
  kj::Promise<void> fed_ = nullptr;
};

class PlayedGate final : public wire::MasterGate::Server {
 public:
  explicit PlayedGate(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> login(LoginContext context) override {
    context.getResults().setAgent(kj::heap<PlayedPort>(master_));
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
};

TEST(AgentServer, AttachesAnewWhenACommitFailsAndSendsItAgain) {
  char folder[] = "/tmp/tarcil-agent-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  PlayedMaster master;
  Listener listener =
      listenAt(net.network, net.io, "unix:" + std::string(folder) + "/master.sock").wait(io.waitScope);
  auto serving = serve(kj::mv(listener.receiver), [&master]() -> capnp::Capability::Client {
                   return kj::heap<PlayedGate>(master);
                 }).eagerlyEvaluate(nullptr);
  AgentServer server(
      net, systemClock(), Rng(1), {"agent-1", "nowhere", listener.address, "token", {}},
      [](const Error& error) { ADD_FAILURE() << error.message; }, []() {});

  JobSpec spec = aJob(1);
  JobId id;
  id.bytes[0] = 1;
  Caller caller;
  caller.user = "alice";
  caller.role = Role::kSubmit;
  caller.runAs = {"alice"};
  std::string problem;
  server.submit(caller, id, spec, nullptr)
      .catch_([&problem](kj::Exception&& exception) { problem = fromException(exception).message; })
      // Where commits have stopped for good, the test is to fail and not to hang.
      .exclusiveJoin(net.timer.afterDelay(30 * kj::SECONDS))
      .wait(io.waitScope);
  EXPECT_EQ(problem, "no");
  EXPECT_EQ(master.attachments, 2);
  EXPECT_THAT(master.commits, ElementsAre(1, 1));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tarcil
