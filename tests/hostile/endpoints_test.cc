// What peers send to real roles: nothing that comes has an effect it should not have, and all serve on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/vector.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <capnp/rpc-twoparty.h>
#include <capnp/serialize.h>

#include "rpc/connection.h"
#include "rpc/token.h"
#include "schema/agent.capnp.h"
#include "schema/convert.h"
#include "schema/convert_support.h"
#include "schema/monitor.capnp.h"
#include "tests/fuzz/example.h"
#include "tests/fuzz/mutation.h"
#include "tests/support/cluster.h"

namespace tarcil::endpoints_test {

using fuzz::Bytes;
using fuzz::example;
using Calls = kj::Vector<kj::Promise<void>>;

constexpr size_t kMutations = 1'000;  // of each stream
constexpr uint64_t kRandomBytes = 300;

// --- Streams ----------------------------------------------------------------------------------------------

// What a client sends: to log in, and then, without waiting for answers, to make calls.
struct Stream {
  Bytes login, calls;
  size_t answers = 0;  // to the calls
};

// What has been written to the other end of a pipe.
Bytes written(kj::AsyncIoStream& end, kj::WaitScope& scope) {
  Bytes bytes;
  scope.poll();
  while (true) {
    kj::byte buffer[4096];
    auto reading = end.tryRead(buffer, 1, sizeof buffer);
    if (!reading.poll(scope)) return bytes;
    const size_t size = reading.wait(scope);
    bytes.insert(bytes.end(), buffer, buffer + size);
  }
}

// `call` makes its calls on what the login gives, before there is an answer.
template <typename Gate>
Stream recorded(const std::string& token, auto call) {
  using namespace capnp::rpc::twoparty;
  auto io = kj::setupAsyncIo();
  auto pipe = io.provider->newTwoWayPipe();
  capnp::TwoPartyVatNetwork network(*pipe.ends[0], Side::CLIENT);
  auto rpc = capnp::makeRpcClient(network);
  capnp::MallocMessageBuilder message;
  message.initRoot<VatId>().setSide(Side::SERVER);
  Stream stream;
  auto login = rpc.bootstrap(message.getRoot<VatId>()).template castAs<Gate>().loginRequest();
  login.setToken(convert::text(token));
  auto loggedIn = login.send();
  stream.login = written(*pipe.ends[1], io.waitScope);
  Calls calls;
  call(loggedIn, calls);
  stream.calls = written(*pipe.ends[1], io.waitScope);
  stream.answers = calls.size();
  return stream;
}

template <typename Request>
void send(Calls& calls, Request&& request) {
  calls.add(request.send().ignoreResult());
}

JobSpec exampleSpec() {
  return example<wire::JobSpec>();
}

// As an agent whose name is none, so that it cannot attach.
void callAsAgent(wire::AgentPort::Client port, Calls& calls) {
  auto attach = port.attachRequest();
  attach.setAgent("!!!");
  attach.setEpoch(1);
  send(calls, kj::mv(attach));
  auto commit = port.commitRequest();
  write(example<wire::Commit>(), commit.initCommit());
  send(calls, kj::mv(commit));
  auto piece = port.pieceRequest();
  piece.initJob(16);
  piece.setUser("u");
  piece.setBytes(100);
  piece.initFiles(1)[0].setPath("f");
  send(calls, kj::mv(piece));
  auto authenticate = port.authenticateRequest();
  authenticate.setToken("somebody's");
  send(calls, kj::mv(authenticate));
}

// As a monitor whose servers have no names.
void callAsMonitor(wire::MonitorPort::Client port, Calls& calls) {
  auto attach = port.attachRequest();
  attach.setMonitor("hostile");
  ServerFacts facts = example<wire::ServerFacts>();
  facts.name = "!!!";
  write(facts, attach.initServers(1)[0]);
  write(example<wire::KnownTask>(), attach.initTasks(1)[0]);
  send(calls, kj::mv(attach));
  auto report = port.reportRequest();
  write(example<wire::TaskReport>(), report.initReports(1)[0]);
  send(calls, kj::mv(report));
  auto files = port.filesRequest();
  files.initJob(16);
  send(calls, kj::mv(files));
}

// What only an operator may change is refused; the rest is about jobs that are not there.
void callAsUser(wire::UserPort::Client port, Calls& calls) {
  auto jobs = port.jobsRequest();
  jobs.setLimit(10);
  jobs.initFilter().setName("example");
  send(calls, kj::mv(jobs));
  auto find = port.findRequest();
  find.setPrefix("00");
  send(calls, kj::mv(find));
  auto cancel = port.cancelRequest();
  cancel.initId(16);
  send(calls, kj::mv(cancel));
  auto decisions = port.decisionsRequest();
  decisions.initId(16);
  send(calls, kj::mv(decisions));
  auto server = port.serverRequest();
  server.setName("s");
  send(calls, kj::mv(server));
  auto steer = port.steerServersRequest();
  steer.initNames(1).set(0, "s");
  steer.setChange(wire::ServerChange::DRAIN);
  send(calls, kj::mv(steer));
  auto settings = port.setSettingsRequest();
  write(QualitySettings{}, settings.initSettings());
  send(calls, kj::mv(settings));
  auto backup = port.backupRequest();
  backup.setFolder("/nowhere/at/all");
  send(calls, kj::mv(backup));
  auto cron = port.cronRequest();
  cron.setName("nightly");
  send(calls, kj::mv(cron));
  auto run = port.steerCronRequest();
  run.setName("nightly");
  run.setChange(wire::CronChange::RUN);
  run.initJob(16);
  send(calls, kj::mv(run));
  auto never = port.addCronRequest();
  CronSpec spec = example<wire::CronSpec>();
  spec.schedule = "0 0 31 2 *";
  write(spec, never.initCron());
  send(calls, kj::mv(never));
  send(calls, port.cronsRequest());
  send(calls, port.serversRequest());
  send(calls, port.usageRequest());
  auto audit = port.auditRequest();
  audit.setUser("ada");
  audit.setAction("job");
  audit.setSince(1);
  send(calls, kj::mv(audit));
}

// The id has three bytes.
void callAsClient(wire::ClientPort::Client client, Calls& calls) {
  auto submit = client.submitRequest();
  submit.initId(3);
  write(exampleSpec(), submit.initSpec());
  send(calls, kj::mv(submit));
  auto begin = client.uploadRequest();
  begin.setBytes(100);
  auto begun = begin.send();
  auto add = begun.getUpload().addRequest();
  add.initFiles(1)[0].setPath("f");
  send(calls, kj::mv(add));
  auto incomplete = begun.getUpload().submitRequest();
  incomplete.initId(16);
  write(exampleSpec(), incomplete.initSpec());
  send(calls, kj::mv(incomplete));
  calls.add(begun.ignoreResult());
  auto plan = client.planRequest();
  write(exampleSpec(), plan.initSpec());
  send(calls, kj::mv(plan));
  auto output = client.outputRequest();
  output.initId(16);
  send(calls, kj::mv(output));
  auto files = client.resultFilesRequest();
  files.initId(16);
  files.setAfter("a");
  send(calls, kj::mv(files));
  auto file = client.readResultRequest();
  file.initId(16);
  file.setAllocation(12);
  file.setPath("../a");
  send(calls, kj::mv(file));
  auto user = client.userRequest().send();
  callAsUser(user.getPort(), calls);
  calls.add(user.ignoreResult());
}

// The launch is for a server of another monitor.
void callAsLauncher(wire::LaunchPort::Client launcher, Calls& calls) {
  auto launch = launcher.launchRequest();
  write(example<wire::LaunchSpec>(), launch.initSpec());
  send(calls, kj::mv(launch));
  auto output = launcher.outputRequest();
  output.setAllocation(12);
  send(calls, kj::mv(output));
  auto files = launcher.resultFilesRequest();
  files.setAllocation(12);
  files.setAfter("a");
  send(calls, kj::mv(files));
  auto file = launcher.readResultRequest();
  file.setAllocation(12);
  file.setPath("../a");
  send(calls, kj::mv(file));
}

// --- Sending ----------------------------------------------------------------------------------------------

class Peer final {
 public:
  explicit Peer(const std::string& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("nobody listens any more at " + socket);
  }
  ~Peer() { ::close(fd_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // What the role does not take, since it has closed the connection, is left.
  void say(const Bytes& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t size = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) return;
      sent += static_cast<size_t>(size);
    }
  }
  void hearMessages(size_t count) {
    for (; count > 0; --count) capnp::StreamFdMessageReader message(fd_);
  }
  // Says no more, and waits until the role has closed the connection too.
  void hearOut() {
    ::shutdown(fd_, SHUT_WR);
    char heard[4096];
    while (::read(fd_, heard, sizeof heard) > 0) continue;
  }

 private:
  const int fd_;
};

class Hostile : public testing::Test {
 protected:
  static std::string servers(const TraceFolder& folder) {
    folder.write("servers.yaml", "servers: [{name: s, rus: 4}]\n");
    return folder.at("servers.yaml");
  }

  std::string socketOf(const std::string& role) const { return cluster_.data() + "/run/" + role + ".sock"; }
  std::string token(const std::string& role) const {
    return *readTokenFile(cluster_.data() + "/tokens/" + role + ".token");
  }

  // All that may not change.
  Json state() const {
    return {cluster_.json({"job", "list"}), cluster_.json({"server", "list"}),
            cluster_.json({"agent", "list"}), cluster_.json({"server", "show", "s"})["tasks"],
            cluster_.json({"tune"})};
  }

  // Makes the calls of a stream, all of which are answered, and then many mutations of them.
  void mutate(const std::string& role, const Stream& stream) {
    for (size_t i = 0; i <= kMutations; ++i) {
      Peer peer(socketOf(role));
      peer.say(stream.login);
      peer.hearMessages(2);  // the answers to bootstrap and login
      peer.say(i == 0 ? stream.calls : fuzz::mutated(stream.calls, rng_));
      if (i == 0) peer.hearMessages(stream.answers);
      peer.hearOut();
    }
  }

  void expectNothingHasHappened() {
    EXPECT_EQ(state(), before_);
    EXPECT_EQ(cluster_.ended(cluster_.submit("command: ['true']\n"))["state"], "done");
  }

  Rng rng_{1};
  TraceFolder folder_;
  ManualCluster cluster_{{.emulate = servers(folder_)}};
  const std::string running_ = cluster_.submit("command: [sleep, 10m]\n");
  Json before_;

  void SetUp() override {
    cluster_.until("the task runs", [this]() { return cluster_.status(running_)["state"] == "running"; });
    before_ = state();
  }
};

TEST_F(Hostile, RandomBytesEndNothingButTheirConnection) {
  for (uint64_t i = 0; i < kRandomBytes; ++i) {
    Bytes random(1 + rng_.below(600));
    for (uint8_t& byte : random) byte = static_cast<uint8_t>(rng_());
    for (const char* role : {"master", "agent-1", "emulated"}) {
      Peer peer(socketOf(role));
      peer.say(random);
      peer.hearOut();
    }
  }
  expectNothingHasHappened();
}

TEST_F(Hostile, MutatedMessagesToTheMasterHaveNoEffect) {
  using Gate = wire::MasterGate;
  mutate("master", recorded<Gate>(token("agent"),
                                  [](auto& login, Calls& calls) { callAsAgent(login.getAgent(), calls); }));
  mutate("master", recorded<Gate>(token("monitor"), [](auto& login, Calls& calls) {
           callAsMonitor(login.getMonitor(), calls);
         }));
  mutate("master", recorded<Gate>(token("submit"),
                                  [](auto& login, Calls& calls) { callAsUser(login.getUser(), calls); }));
  expectNothingHasHappened();
}

TEST_F(Hostile, MutatedMessagesToAnAgentHaveNoEffect) {
  mutate("agent-1", recorded<wire::AgentGate>(token("submit"), [](auto& login, Calls& calls) {
           callAsClient(login.getClient(), calls);
         }));
  expectNothingHasHappened();
}

TEST_F(Hostile, MutatedMessagesToAMonitorHaveNoEffect) {
  mutate("emulated", recorded<wire::MonitorGate>(token("agent"), [](auto& login, Calls& calls) {
           callAsLauncher(login.getLauncher(), calls);
         }));
  expectNothingHasHappened();
}

// With all that an agent has, but a commit of the master's.
TEST_F(Hostile, AnAgentHasNothingStartedThatTheMasterDidNotSign) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  auto connection = connect(net, "unix:" + socketOf("emulated")).wait(io.waitScope);
  auto login = connection->bootstrap().castAs<wire::MonitorGate>().loginRequest();
  login.setToken(convert::text(token("agent")));
  auto launcher = login.send().wait(io.waitScope).getLauncher();
  LaunchSpec spec;
  spec.allocation = 4711;
  spec.server = "s";
  spec.jobName = "of nobody";
  spec.command = {"sleep", "60"};
  spec.user = "root";
  spec.rus = {1};
  for (const std::string& ticket : {std::string(), std::string(32, '\0'), std::string(1000, 'x')}) {
    auto launch = launcher.launchRequest();
    write(spec, launch.initSpec());
    launch.setTicket(convert::data(ticket));
    EXPECT_EQ(launch.send().wait(io.waitScope).getOutcome(), wire::LaunchPort::Outcome::NO_TICKET);
  }
  expectNothingHasHappened();
}

// As a killed monitor does, whose key goes with it.
TEST_F(Hostile, WhatWasSignedForAMonitorsLastLifeIsSignedAnew) {
  cluster_.kill("emulated");
  const std::string job = cluster_.submit("command: ['true']\n");
  cluster_.start("emulated");
  EXPECT_EQ(cluster_.ended(job)["state"], "done");
}

}  // namespace tarcil::endpoints_test
