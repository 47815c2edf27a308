// The agent's shell against a master that is only played: real sockets, nothing behind them.
#include "agent/server/agent_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/state/state_checksum.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "tests/support/builders.h"

namespace tarcil::agent_server_test {

using testing::ElementsAre;

// Attaches whoever comes, with one server of one unit; fails the first commit for no good reason, and refuses
// all others.
struct PlayedMaster {
  uint64_t term = 0;
  int logins = 0;
  int attachments = 0;
  std::vector<uint64_t> commits;            // sequences, in the order of their coming
  kj::Maybe<wire::AgentFeed::Client> feed;  // of the last who attached
};

ServerUpdate oneServer() {
  ServerUpdate update;
  update.facts.emplace().name = "s1";
  update.facts->rus = 1;
  update.status.version = 1;
  update.status.up = true;
  update.status.free.insert(0);
  return update;
}

kj::Promise<void> sendSnapshot(wire::AgentFeed::Client& feed) {
  auto request = feed.updateRequest();
  write(oneServer(), request.initServers(1)[0]);
  write(QualitySettings{}, request.initSettings());
  request.setSnapshotComplete(true);
  return request.send().ignoreResult();
}

class PlayedPort final : public wire::AgentPort::Server {
 public:
  explicit PlayedPort(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> attach(AttachContext context) override {
    ++master_.attachments;
    context.getResults().setEpoch(1);
    wire::AgentFeed::Client feed = context.getParams().getFeed();
    fed_ = sendSnapshot(feed).eagerlyEvaluate(nullptr);
    master_.feed = kj::mv(feed);
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
    ++master_.logins;
    context.getResults().setTerm(master_.term);
    context.getResults().setAgent(kj::heap<PlayedPort>(master_));
    return kj::READY_NOW;
  }

 private:
  PlayedMaster& master_;
};

class AgentServerTest : public testing::Test {
 protected:
  AgentServerTest() {
    char folder[] = "/tmp/tarcil-agent-XXXXXX";
    KJ_REQUIRE(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    Listener listener =
        listenAt(net_.network, net_.io, "unix:" + folder_ + "/master.sock").wait(io_.waitScope);
    serving_ =
        serve(net_.timer, kj::mv(listener.receiver), [this](const LetIn& letIn) -> capnp::Capability::Client {
          letIn(Peer::kRole);
          return kj::heap<PlayedGate>(master_);
        }).eagerlyEvaluate(nullptr);
    server_ = std::make_unique<AgentServer>(
        net_, systemClock(), Rng(1),
        AgentServerOptions{"agent-1", "nowhere", {listener.address}, "token", {}},
        [](const Error& error) { ADD_FAILURE() << error.message; },
        [this]() {
          ++attached_;
          if (attachedOnce_.fulfiller->isWaiting()) attachedOnce_.fulfiller->fulfill();
        });
  }
  ~AgentServerTest() noexcept override { std::filesystem::remove_all(folder_); }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  std::string folder_;
  PlayedMaster master_;
  kj::Promise<void> serving_ = nullptr;
  kj::PromiseFulfillerPair<void> attachedOnce_ = kj::newPromiseAndFulfiller<void>();
  int attached_ = 0;
  std::unique_ptr<AgentServer> server_;
};

TEST_F(AgentServerTest, AttachesAnewWhenACommitFailsAndSendsItAgain) {
  JobSpec spec = aJob(1);
  JobId id;
  id.bytes[0] = 1;
  Caller caller;
  caller.user = "alice";
  caller.role = Role::kSubmit;
  caller.runAs = {"alice"};
  std::string problem;
  server_->submit(caller, id, spec, {})
      .catch_([&problem](kj::Exception&& exception) { problem = fromException(exception).message; })
      // Where commits have stopped for good, the test is to fail and not to hang.
      .exclusiveJoin(net_.timer.afterDelay(30 * kj::SECONDS))
      .wait(io_.waitScope);
  EXPECT_EQ(problem, "no");
  EXPECT_EQ(master_.attachments, 2);
  EXPECT_THAT(master_.commits, ElementsAre(1, 1));
}

TEST_F(AgentServerTest, TellsTheMasterThatItsCopyDiffersAndGoesOnWithANewOne) {
  const auto compare = [this](StateChecksum told) {
    auto request = KJ_ASSERT_NONNULL(master_.feed).updateRequest();
    auto checksum = request.initChecksum();
    checksum.setSum(told.statuses);
    checksum.setFacts(told.facts);
    return request.send().wait(io_.waitScope).getDiffers();
  };
  attachedOnce_.promise.wait(io_.waitScope);
  const StateChecksum right{checksumOf(0, oneServer().status), checksumOf(0, *oneServer().facts)};
  EXPECT_FALSE(compare(right));
  EXPECT_FALSE(compare({right.statuses, 0}));
  EXPECT_TRUE(compare({right.statuses, right.facts + 1}));
  sendSnapshot(KJ_ASSERT_NONNULL(master_.feed)).wait(io_.waitScope);
  EXPECT_TRUE(compare({right.statuses + 1, right.facts}));
  sendSnapshot(KJ_ASSERT_NONNULL(master_.feed)).wait(io_.waitScope);
  EXPECT_FALSE(compare(right));
  EXPECT_EQ(attached_, 1);
  EXPECT_EQ(master_.attachments, 1);
  EXPECT_THAT(server_->metrics(), testing::HasSubstr("\ntarcil_agent_copy_mismatches_total 2\n"));
}

TEST_F(AgentServerTest, IsNotLedByAMasterOfAnEarlierTerm) {
  const auto until = [this](const std::function<bool()>& holds) {
    for (int i = 0; i < 3'000 && !holds(); ++i)
      net_.timer.afterDelay(10 * kj::MILLISECONDS).wait(io_.waitScope);
    EXPECT_TRUE(holds());
  };
  const auto comeBackAs = [this](uint64_t term) {
    master_.term = term;
    server_->dropLink(KJ_EXCEPTION(DISCONNECTED, "the link is cut"));
  };
  attachedOnce_.promise.wait(io_.waitScope);
  comeBackAs(7);
  until([this]() { return master_.attachments == 2; });
  comeBackAs(6);
  const int before = master_.logins;
  until([this, before]() { return master_.logins >= before + 2; });
  EXPECT_EQ(master_.attachments, 2);
  master_.term = 8;
  until([this]() { return master_.attachments == 3; });
}

}  // namespace tarcil::agent_server_test
