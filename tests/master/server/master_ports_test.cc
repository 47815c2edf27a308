// As whom a master lets somebody in, by what the connection proves of them, and what those may not say then.
#include "master/server/master_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <pwd.h>

#include "core/state/launch_of.h"
#include "master/server/agent_users.h"
#include "master/server/join_gate.h"
#include "master/server/read_only_gate.h"
#include "master/server/registrar.h"
#include "master/store/memory_store.h"
#include "rpc/errors.h"
#include "rpc/launch_ticket.h"
#include "rpc/token.h"
#include "schema/convert.h"
#include "schema/convert_support.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::master_ports_test {

using testing::HasSubstr;
using namespace std::chrono_literals;

const Identity kAgent{MemberRole::kAgent, "a1", 7};
const Identity kMonitor{MemberRole::kMonitor, "s7", 8};

// Somebody who changes nothing where the master calls back.
class Feed final : public wire::AgentFeed::Server {
 public:
  kj::Promise<void> update(UpdateContext) override { return kj::READY_NOW; }
};

class Control final : public wire::MonitorControl::Server {};

PeerName certified(const Identity& identity) {
  return {.identity = identity, .until = kNever, .address = "10.0.0.9"};
}

class MasterPorts : public testing::Test {
 protected:
  ~MasterPorts() noexcept override = default;

  void start(const std::vector<std::string>& vouching = {}, bool readOnly = false, TokenTable tokens = {}) {
    MasterOptions options;
    options.readOnly = readOnly;
    for (const std::string& rule : vouching) ASSERT_TRUE(options.vouching.add(rule).ok());
    server_ =
        std::make_unique<MasterServer>(net_, systemClock(), Rng(1), store_, *store_.load(), std::move(tokens),
                                       options, [](const Error& error) { ADD_FAILURE() << error.message; });
  }

  static LetIn lettingIn(const PeerName& peer) {
    return LetIn([](Peer, kj::Maybe<FairCalls::User&>, kj::Promise<void>) {},
                 std::make_shared<const PeerName>(peer));
  }
  wire::MasterGate::Client gate(const PeerName& peer) { return makeMasterGate(*server_, lettingIn(peer)); }

  auto login(const PeerName& peer, const std::string& token = "") {
    auto request = gate(peer).loginRequest();
    request.setToken(token.c_str());
    return request.send().wait(io_.waitScope);
  }
  wire::AgentPort::Client agentPort(const PeerName& peer) { return login(peer).getAgent(); }

  // "" where the call succeeds.
  template <typename Call>
  std::string refused(Call call) {
    try {
      call();
    } catch (const kj::Exception& exception) {
      const Error error = fromException(exception);
      return std::string(name(error.code)) + ": " + error.message;
    }
    return "";
  }
  std::string attach(wire::AgentPort::Client& agent, const std::string& name) {
    return refused([&]() {
      auto request = agent.attachRequest();
      request.setAgent(name.c_str());
      request.setFeed(kj::heap<Feed>());
      request.send().wait(io_.waitScope);
    });
  }
  std::string vouch(wire::AgentPort::Client& agent, const std::string& user) {
    return refused([&]() {
      auto request = agent.vouchRequest();
      request.setUser(user.c_str());
      const auto answer = request.send().wait(io_.waitScope);
      EXPECT_EQ(std::string(answer.getCaller().getUser().cStr()), user);
    });
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  const Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  MemoryStore store_;
  std::unique_ptr<MasterServer> server_;
};

TEST_F(MasterPorts, AnAgentSpeaksUnderTheNameOfItsCertificateAlone) {
  start();
  auto agent = agentPort(certified(kAgent));
  EXPECT_THAT(attach(agent, "a2"), HasSubstr("Denied: the certificate is for agent a1, which may not speak "
                                             "as 'a2'"));
  EXPECT_EQ(server_->logic().agents().size(), 0u);
  EXPECT_EQ(attach(agent, "a1"), "");
}

TEST_F(MasterPorts, AMonitorRegistersServersOfItsNameAlone) {
  start();
  const auto attachAs = [this](const std::string& server) {
    auto monitor = login(certified(kMonitor)).getMonitor();
    return refused([&]() {
      auto request = monitor.attachRequest();
      request.setMonitor("identity");
      auto facts = request.initServers(1)[0];
      facts.setName(server.c_str());
      facts.setPlatform("p");
      facts.setRus(1);
      request.send().wait(io_.waitScope);
    });
  };
  EXPECT_THAT(attachAs("s8"), HasSubstr("Denied: the certificate is for monitor s7"));
  EXPECT_FALSE(server_->logic().server("s8").has_value());
  EXPECT_THAT(attachAs("s7"), testing::Not(HasSubstr("Denied")));
}

TEST_F(MasterPorts, ACertificateGivesThePortOfItsRoleAlone) {
  start();
  const auto agent = login(certified(kAgent), "whatever token");
  EXPECT_TRUE(agent.hasAgent());
  EXPECT_FALSE(agent.hasMonitor());
  EXPECT_FALSE(agent.hasUser());
  const auto monitor = login(certified(kMonitor));
  EXPECT_TRUE(monitor.hasMonitor());
  EXPECT_FALSE(monitor.hasAgent());
  EXPECT_FALSE(monitor.hasUser());
  EXPECT_THAT(refused([this]() {
                login(certified({MemberRole::kMaster, "m", 9}));
              }),
              HasSubstr("Denied: the certificate is a master's"));
}

TEST_F(MasterPorts, TellsRolesThatItLeadsWhereTheyHaveHeardOfAnEarlierOne) {
  start();
  server_->setStanding({.leads = true, .term = 5}, nullptr);
  const auto ask = [this](const PeerName& peer, uint64_t term) {
    auto request = gate(peer).laterLeaderRequest();
    request.setTerm(term);
    return request.send();
  };
  EXPECT_EQ(ask(certified(kMonitor), 4).wait(io_.waitScope).getTerm(), 5u);
  auto waits = ask(certified(kAgent), 5);
  EXPECT_FALSE(waits.poll(io_.waitScope)) << "it ends when another one leads";
  EXPECT_THAT(refused([&]() { ask({}, 4).wait(io_.waitScope); }), HasSubstr("Denied"));
}

TEST_F(MasterPorts, AnAgentOnAnotherMachineVouchesForWhomItsRuleNames) {
  start({"a1=all"});
  auto agent = agentPort(certified(kAgent));
  EXPECT_THAT(vouch(agent, "ann"), HasSubstr("an agent attaches first"));
  ASSERT_EQ(attach(agent, "a1"), "");
  EXPECT_EQ(vouch(agent, "ann"), "");
  EXPECT_THAT(vouch(agent, "root"), HasSubstr("Denied"));
  auto other = agentPort(certified({MemberRole::kAgent, "a2", 10}));
  ASSERT_EQ(attach(other, "a2"), "");
  EXPECT_THAT(vouch(other, "ann"), HasSubstr("Denied"));
}

// --- Whose jobs an agent submits

Commit jobOf(const std::string& user, uint8_t number) {
  Commit commit;
  commit.sequence = number;
  commit.job.bytes.fill(number);
  JobRecord& record = commit.newJob.emplace().record;
  record.id = commit.job;
  record.user = record.runAs = user;
  record.spec.name = "job";
  record.spec.command = {"true"};
  return commit;
}

TEST_F(MasterPorts, AnAgentSubmitsJobsOfThoseAloneWhoAreLoggedInAtIt) {
  start({"a1=all"});
  auto agent = agentPort(certified(kAgent));
  ASSERT_EQ(attach(agent, "a1"), "");
  const auto commit = [&](const Commit& commit) {
    auto request = agent.commitRequest();
    write(commit, request.initCommit());
    const CommitAnswer answer = read(request.send().wait(io_.waitScope).getAnswer());
    return answer.outcome == CommitAnswer::Outcome::kOk ? "taken" : answer.problem;
  };
  EXPECT_THAT(commit(jobOf("ann", 1)), HasSubstr("no user 'ann' is logged in at this agent"));
  ASSERT_EQ(vouch(agent, "ann"), "");
  EXPECT_EQ(commit(jobOf("ann", 2)), "taken");
  EXPECT_THAT(commit(jobOf("bob", 3)), HasSubstr("no user 'bob' is logged in at this agent"));
  Commit asAnother = jobOf("ann", 4);
  asAnother.newJob->record.runAs = "root";
  EXPECT_THAT(commit(asAnother), HasSubstr("ann may not run jobs as `root`"));
  asAnother = jobOf("ann", 5);
  asAnother.newJob->record.spec.user = asAnother.newJob->record.runAs = "root";
  EXPECT_THAT(commit(asAnother), HasSubstr("ann may not run jobs as `root`"));
  // What is known of a job counts, not what an agent says of it.
  Commit more = jobOf("bob", 2);
  more.sequence = 6;
  EXPECT_THAT(commit(more), HasSubstr("this job id is taken"));
}

TEST_F(MasterPorts, AnAgentIsGrantedTheLateBoundTasksOfThoseAloneWhoAreLoggedInAtIt) {
  start({"a1=all"});
  auto agent = agentPort(certified(kAgent));
  const auto ask = [&](const std::string& user, const std::string& runAs) {
    auto request = agent.lateGrantRequest();
    request.setUser(convert::text(user));
    request.setRunAs(convert::text(runAs));
    return request.send();
  };
  const auto asked = [&](const std::string& user, const std::string& runAs) {
    return refused([&]() { ask(user, runAs).wait(io_.waitScope); });
  };
  EXPECT_THAT(asked("ann", "ann"), HasSubstr("an agent attaches first"));
  ASSERT_EQ(attach(agent, "a1"), "");
  EXPECT_THAT(asked("ann", "ann"), HasSubstr("no user 'ann' is logged in at this agent"));
  ASSERT_EQ(vouch(agent, "ann"), "");
  EXPECT_THAT(asked("bob", "bob"), HasSubstr("no user 'bob' is logged in at this agent"));
  EXPECT_THAT(asked("ann", "root"), HasSubstr("ann may not run jobs as `root`"));
  const WallTime before = systemClock().now().wall;
  const auto answer = ask("ann", "ann").wait(io_.waitScope);
  const LateGrant grant = read(answer.getGrant());
  EXPECT_EQ(grant.agent, "a1");
  EXPECT_EQ(grant.user, "ann");
  EXPECT_EQ(grant.runAs, "ann");
  EXPECT_GE(grant.until, before + kLateGrantLife);
  EXPECT_LE(grant.until, systemClock().now().wall + kLateGrantLife);
  auto attaching = login(certified(kMonitor)).getMonitor().attachRequest();
  attaching.setMonitor("identity");
  const auto attached = attaching.send().wait(io_.waitScope);
  PublicKey key{};
  ASSERT_EQ(attached.getGrantKey().size(), key.size());
  std::copy(attached.getGrantKey().begin(), attached.getGrantKey().end(), key.begin());
  EXPECT_TRUE(isSignedBy(grant, key));
}

TEST_F(MasterPorts, WhatIsGrantedHasATicketOfTheMonitorsSessionForTheLaunchAsTheAgentMakesIt) {
  start({"*=all"});
  auto monitor = login(certified(kMonitor)).getMonitor();
  auto attaching = monitor.attachRequest();
  attaching.setMonitor("identity");
  ServerFacts facts;
  facts.name = "s7";
  facts.platform = "p";
  facts.rus = 4;
  write(facts, attaching.initServers(1)[0]);
  attaching.setControl(kj::heap<Control>());
  const auto attached = attaching.send().wait(io_.waitScope);
  MacKey key;
  ASSERT_EQ(attached.getTicketKey().size(), key.size());
  std::ranges::copy(attached.getTicketKey(), key.begin());
  auto agent = agentPort(certified(kAgent)), other = agentPort(certified({MemberRole::kAgent, "a2", 10}));
  ASSERT_EQ(attach(agent, "a1") + attach(other, "a2"), "");
  ASSERT_EQ(vouch(agent, "ann"), "");
  Commit commit = jobOf("ann", 1);
  commit.claims.emplace_back().rus = 1;
  auto request = agent.commitRequest();
  write(commit, request.initCommit());
  const auto committed = request.send().wait(io_.waitScope);
  const CommitAnswer answer = read(committed.getAnswer());
  ASSERT_EQ(answer.grants.size(), 1u) << answer.problem;
  ASSERT_EQ(committed.getTickets().size(), 1u);
  const Grant& grant = answer.grants[0];
  ASSERT_EQ(grant.verdict, Verdict::kGranted);
  LaunchSpec launch = launchOf(commit.newJob->record, 0, {grant.allocation, 0, grant.rus, grant.extras});
  launch.server = "s7";
  EXPECT_TRUE(isTicketFor(launch, key, convert::data(committed.getTickets()[0])));
  const auto ask = [&](wire::AgentPort::Client& who, AllocationId allocation) {
    auto tickets = who.ticketsRequest();
    tickets.initAllocations(1).set(0, allocation);
    return convert::data(tickets.send().wait(io_.waitScope).getTickets()[0]);
  };
  EXPECT_TRUE(isTicketFor(launch, key, ask(agent, grant.allocation)));
  EXPECT_EQ(ask(other, grant.allocation), "") << "of another agent's job";
  EXPECT_EQ(ask(agent, grant.allocation + 1), "");
}

TEST_F(MasterPorts, SoManyTicketsAreAskedForAtOnce) {
  start();
  auto agent = agentPort(certified(kAgent));
  ASSERT_EQ(attach(agent, "a1"), "");
  const auto ask = [&](uint32_t count) {
    return refused([&]() {
      auto request = agent.ticketsRequest();
      request.initAllocations(count);
      EXPECT_EQ(request.send().wait(io_.waitScope).getTickets().size(), count);
    });
  };
  EXPECT_EQ(ask(1'000), "");
  EXPECT_THAT(ask(1'001), HasSubstr("too many at once"));
}

TEST_F(MasterPorts, AnAgentSubmitsNoJobsOfAUserWhoMayNoLonger) {
  start({"a1=known"});
  const auto change = [this](master::PeopleChange change) {
    server_->changePeople(std::move(change), {.user = "oscar"}).wait(io_.waitScope);
  };
  change(master::UserSet{{}, {.name = "ann", .runAs = {"ann"}}});
  AgentUsers users(server_->logins());
  const VouchedUser shown{"ann", "a1"};
  ASSERT_TRUE(users.add(shown, *server_->callerOf(shown), {.user = "ann"}).ok());
  EXPECT_EQ(users.submitterOf("ann", "ann")->user, "ann");
  UserRecord reader{.name = "ann", .role = Role::kRead, .runAs = {"ann"}};
  change(master::UserRemoved{"ann"});
  io_.provider->getTimer().afterDelay(0 * kj::SECONDS).wait(io_.waitScope);
  EXPECT_THAT(users.submitterOf("ann", "ann").error().message, HasSubstr("no user 'ann' is logged in"));
  change(master::UserSet{{}, reader});
  ASSERT_TRUE(users.add(shown, *server_->callerOf(shown), {.user = "ann"}).ok());
  EXPECT_THAT(users.submitterOf("ann", "ann").error().message, HasSubstr("may look and change nothing"));
}

TEST(AgentUsers, AreNamedToTheAuditLogWithWhereTheyCameFrom) {
  const auto io = kj::setupAsyncIo();
  LoginWatch watch([](const LoginProof&) -> Result<Caller> { return denied("nobody is asked"); });
  AgentUsers users(watch);
  const auto add = [&users](const std::string& user, const std::string& address) {
    const Status added = users.add(VouchedUser{user, "a1"}, {user, Role::kSubmit, {user}},
                                   {.user = user, .knownBy = "uid", .agent = "a1", .address = address});
    ASSERT_TRUE(added.ok());
  };
  add("bob", "unix");
  add("ann", "10.0.0.2");
  EXPECT_EQ(*users.submitterOf("ann", "ann"),
            (audit::Requester{.user = "ann", .knownBy = "uid", .agent = "a1", .address = "10.0.0.2"}));
  add("ann", "10.0.0.1");
  add("ann", "10.0.0.2");
  EXPECT_EQ(users.submitterOf("ann", "ann")->address, "10.0.0.1, 10.0.0.2");
  for (int i = 3; i < 10; ++i) add("ann", "10.0.0." + std::to_string(i));
  EXPECT_EQ(users.submitterOf("ann", "ann")->address, "10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, others");
}

TEST(AgentUsers, AreSoMany) {
  const auto io = kj::setupAsyncIo();
  LoginWatch watch([](const LoginProof&) -> Result<Caller> { return denied("nobody is asked"); });
  AgentUsers users(watch);
  const auto add = [&users](size_t number) {
    const std::string user = "user-" + std::to_string(number);
    return users.add(VouchedUser{user, "a1"}, {user, Role::kSubmit, {user}}, {});
  };
  for (size_t i = 0; i < AgentUsers::kMaxLogins; ++i) ASSERT_TRUE(add(i).ok());
  EXPECT_EQ(add(AgentUsers::kMaxLogins).error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(add(7).ok()) << "it is there";
}

TEST_F(MasterPorts, WhoShowsNothingOverTcpIsNobody) {
  start({"*=all"});
  EXPECT_THAT(refused([this]() { login({.address = "10.0.0.9"}); }), HasSubstr("Denied"));
}

// Its socket is the only one of a cluster whose master only reads, and takes the place of the agents'.
TEST_F(MasterPorts, WhileItOnlyReadsAMasterKnowsUsersByTheirUserId) {
  const auto askedBy = [this](const char* user) {
    const passwd* entry = ::getpwnam(user);
    if (entry == nullptr) return std::string("no such user");
    auto gate = makeReadOnlyGate(makeMasterGate(*server_, lettingIn({.uid = entry->pw_uid})))
                    .castAs<wire::AgentGate>();
    return refused([&]() {
      const auto answer = gate.loginRequest().send().wait(io_.waitScope);
      EXPECT_EQ(std::string(answer.getCaller().getUser().cStr()), user);
      EXPECT_TRUE(answer.hasClient());
    });
  };
  start({}, true);
  EXPECT_THAT(askedBy("daemon"), HasSubstr("Denied")) << "no rule says so";
  start({"*=all"}, true);
  EXPECT_EQ(askedBy("daemon"), "");
  EXPECT_THAT(askedBy("root"), HasSubstr("root is let in by a token alone"));
}

// A word for another master is worth the cluster.
class WordsForMasters : public MasterPorts {
 protected:
  ~WordsForMasters() noexcept override = default;

  void SetUp() override {
    const std::string file = folder_.path() + "/tokens";
    ASSERT_TRUE(TokenTable::write(file, {{kToken, {"oscar", Role::kOperate, {"nobody"}}}}).ok());
    start({}, false, *TokenTable::read(file));
    const WallTime now = systemClock().now().wall;
    registrar_ = std::make_unique<Registrar>(
        *server_, systemClock(),
        RegistrarOptions{*makeAuthority("c1", {now - 1h, now + 1h}), 1h, "10.0.0.1:7001", [this]() {
                           ++given_;
                           return MasterKeys{"key", "tokens", SecretBytes("seal")};
                         }});
    server_->setRegistrar(*registrar_);
  }
  // The word, or why there is none.
  std::string invited(wire::UserPort::Client user) {
    std::string word;
    const std::string problem = refused([&]() {
      auto request = user.inviteMemberRequest();
      request.setRole(wire::MemberRole::MASTER);
      request.setName("m2");
      request.setLife(60'000'000);
      word = request.send().wait(io_.waitScope).getWord().cStr();
    });
    return problem.empty() ? word : problem;
  }
  // The authority's key, or why it is not given.
  std::string joined(const std::string& word) {
    std::string key;
    const std::string problem = refused([&]() {
      auto request = makeJoinGate(*registrar_, lettingIn({.address = "10.0.0.2"})).joinRequest();
      request.setWord(word.c_str());
      request.setRequest(makeRequest(*makeKey())->c_str());
      key = request.send().wait(io_.waitScope).getKeys().getAuthority().cStr();
    });
    return problem.empty() ? key : problem;
  }

  static constexpr const char* kToken = "an-operators-token-of-thirty-two";
  const TemporaryFolder folder_;
  std::unique_ptr<Registrar> registrar_;
  int given_ = 0;
};

TEST_F(WordsForMasters, AreMadeOverTheUnixSocketAndWorkOnce) {
  const std::string word = invited(login({.uid = 0}, kToken).getUser());
  ASSERT_THAT(word, testing::StartsWith("master:m2:"));
  EXPECT_EQ(joined(word), "key");
  EXPECT_THAT(joined(word), HasSubstr("Denied: no such word for a master is out"));
  EXPECT_EQ(given_, 1) << "the keys are read for whom they are given to alone";
}

TEST_F(WordsForMasters, AreNotMadeOverANetwork) {
  EXPECT_THAT(invited(login({.address = "10.0.0.9"}, kToken).getUser()), testing::StartsWith("Denied: "));
}

TEST_F(WordsForMasters, AreNotMadeForAnAgentThatHasAnOperatorsToken) {
  auto agent = agentPort(certified(kAgent));
  const auto authenticated = [&]() {
    auto request = agent.authenticateRequest();
    request.setToken(kToken);
    request.setFrom(audit::kThisMachine);
    return request.send().wait(io_.waitScope).getUser();
  };
  EXPECT_THAT(refused([&]() { authenticated(); }), HasSubstr("an agent attaches first"));
  ASSERT_EQ(attach(agent, "a1"), "");
  EXPECT_THAT(invited(authenticated()), testing::StartsWith("Denied: "));
}

TEST_F(WordsForMasters, AreNotOutBecauseTheStoreSaysSo) {
  const JoinWord word{.role = MemberRole::kMaster, .name = "m3", .until = systemClock().now().wall + 1h};
  server_->changeMembers(master::MemberInvited{word.role, word.name, digestOf(textOf(word)), 1h, true}, {})
      .wait(io_.waitScope);
  EXPECT_THAT(joined(textOf(word)), HasSubstr("Denied: no such word for a master is out"));
  EXPECT_EQ(given_, 0);
}

}  // namespace tarcil::master_ports_test
