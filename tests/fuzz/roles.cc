#include "tests/fuzz/roles.h"

#include <kj/async-io.h>
#include <kj/debug.h>
#include <kj/vector.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/server/agent_server.h"
#include "agent/server/client_port.h"
#include "env/clock.h"
#include "latebinding/names.h"
#include "master/server/join_gate.h"
#include "master/server/master_ports.h"
#include "master/server/master_server.h"
#include "master/server/registrar.h"
#include "master/server/secret_keeper.h"
#include "master/store/memory_store.h"
#include "master/store/store_check.h"
#include "monitor/late/late_binding.h"
#include "monitor/server/emulated_runner.h"
#include "monitor/server/launch_port.h"
#include "monitor/server/monitor_server.h"
#include "schema/convert.h"
#include "tests/fuzz/example.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::fuzz {
namespace {

using capnp::DynamicCapability;
using capnp::DynamicStruct;
using capnp::InterfaceSchema;

constexpr const char* kAgentToken = "agent-agent-agent-agent-agent-agent";
constexpr const char* kMonitorToken = "monitor-monitor-monitor-monitor-mon";
constexpr const char* kOperatorToken = "operator-operator-operator-operator";

ServerFacts aServer(const std::string& name) {
  ServerFacts facts = example<wire::ServerFacts>();
  facts.name = name;
  facts.attributes[std::string(late::kServerAttribute)] = "8";
  return facts;
}

// --- Whom a role talks to

using Context = capnp::CallContext<DynamicStruct, DynamicStruct>;
// Fills in an answer.
using Answer = std::function<void(kj::StringPtr method, Context& context)>;

class Played final : public DynamicCapability::Server {
 public:
  Played(InterfaceSchema schema, Answer answer) : Server(schema), answer_(std::move(answer)) {}

  kj::Promise<void> call(InterfaceSchema::Method method, Context context) override {
    answer_(method.getProto().getName(), context);
    return kj::READY_NOW;
  }

 private:
  const Answer answer_;
};

DynamicCapability::Client played(InterfaceSchema schema, Answer answer) {
  return kj::heap<Played>(schema, std::move(answer));
}

template <typename W>
DynamicCapability::Client played(Answer answer) {
  return played(capnp::Schema::from<W>(), std::move(answer));
}
template <typename W>
typename W::Client deafAs() {
  return deaf(capnp::Schema::from<W>()).template as<W>();
}

LetIn letsEverybodyIn() {
  return LetIn([](Peer, kj::Maybe<FairCalls::User&>, kj::Promise<void>) {});
}

// An event loop, and a folder for sockets.
class Loop {
 public:
  Loop() { spdlog::set_level(spdlog::level::off); }

  kj::WaitScope& scope() { return io_.waitScope; }
  Net net() { return {*network_, *io_.lowLevelProvider, io_.provider->getTimer()}; }
  std::string address(const std::string& name) const { return "unix:" + folder_.path() + "/" + name; }

  // Whoever connects gets the capability.
  void serveAt(const std::string& name, DynamicCapability::Client bootstrap) {
    Listener listener = listenAt(net().network, net().io, address(name)).wait(scope());
    auto held = std::make_shared<DynamicCapability::Client>(kj::mv(bootstrap));
    auto greeter = [held](const LetIn& letIn) -> capnp::Capability::Client {
      letIn(Peer::kRole);
      return *held;
    };
    serving_.push_back(serve(net().timer, kj::mv(listener.receiver), greeter).eagerlyEvaluate(nullptr));
  }

  // Until it holds, which it does after a few turns of the loop; sockets may take longer on a busy machine.
  void until(const std::function<bool()>& holds, const char* what) {
    for (int turn = 0; !holds(); ++turn) {
      require(turn < 30'000, what);
      scope().poll();
      if (turn > 1'000) net().timer.afterDelay(kj::MILLISECONDS).wait(scope());
    }
  }

 private:
  TemporaryFolder folder_;
  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  // Whatever addresses roles are told, they leave this machine alone.
  kj::Own<kj::Network> network_ = io_.provider->getNetwork().restrictPeers({"unix"});
  std::vector<kj::Promise<void>> serving_;
};

// --- The master

TokenTable tokens() {
  const std::string text = std::string(kAgentToken) + " a agent\n" + kMonitorToken + " m monitor\n" +
                           kOperatorToken + " ada operate nobody,ada\n";
  return TokenTable::read(MemoryFile(inputOf(text)).path()).value();
}

Authority anAuthority() {
  const WallTime now = systemClock().now().wall;
  return makeAuthority("fuzz", {now, now + std::chrono::hours(1)}).value();
}

class MasterRole : public Role {
 public:
  MasterRole() {
    auto monitor = login(kMonitorToken).getMonitor();
    auto attachMonitor = monitor.attachRequest();
    attachMonitor.setMonitor("m0");
    write(aServer("server-0"), attachMonitor.initServers(1)[0]);
    attachMonitor.setControl(deafAs<wire::MonitorControl>());
    attachMonitor.send().wait(scope());
    auto agent = login(kAgentToken).getAgent();
    auto attachAgent = agent.attachRequest();
    attachAgent.setAgent("agent-0");
    attachAgent.setAddress("unix:/nowhere");
    attachAgent.setFeed(deafAs<wire::AgentFeed>());
    server_.setRegistrar(registrar_);
    server_.secrets().setKeys(SecretKeys::parse(SecretKeys::newFile().text()).value());
    const uint64_t epoch = attachAgent.send().wait(scope()).getEpoch();
    require(epoch > 0, "the agent has no epoch");
    auto logIn = agent.authenticateRequest();
    logIn.setToken(kOperatorToken);
    logIn.send().wait(scope());
    auto request = agent.commitRequest();
    write(aCommit(), request.initCommit());
    const CommitAnswer answer = read(request.send().wait(scope()).getAnswer());
    require(answer.grants.size() == 1 && answer.grants[0].verdict == Verdict::kGranted,
            "the task gets no units");
    peers_.add(kj::mv(monitor));
    peers_.add(kj::mv(agent));
  }

  kj::WaitScope& scope() override { return loop_.scope(); }

  void checkServes() override {
    server_.synced().wait(scope());
    require(stopped_.empty(), "the master stops: " + stopped_);
    login(kOperatorToken).getUser().serversRequest().send().wait(scope());
    server_.metrics().wait(scope());
    const auto problems = checkStore(wholeStore());
    for (const StoreProblem& problem : problems) require(false, problem.key + ": " + problem.what);
  }

 protected:
  capnp::Response<wire::MasterGate::LoginResults> login(const char* token) {
    auto request = gate_.loginRequest();
    request.setToken(token);
    return request.send().wait(scope());
  }

 private:
  WholeStore wholeStore() {
    WholeStore whole{store_.load().value(), {}, {}};
    for (const JobRecord& job : whole.contents.jobs) {
      const auto decisions = store_.decisions(job.id);
      whole.decisions.insert(whole.decisions.end(), decisions->begin(), decisions->end());
      if (!store_.files(job.id)->empty()) whole.files.push_back({job.id, 0});
    }
    return whole;
  }

  // Of one task of a new job, which server-0 can take.
  static Commit aCommit() {
    Commit commit = example<wire::Commit>();
    commit.newJob->record.spec.extras.clear();
    commit.newJob->record.spec.after = {};  // there is no other job
    commit.newJob->record.spec.secrets.clear();
    commit.claims.resize(1);
    commit.claims[0].floor = 0;
    return commit;
  }

  Loop loop_;
  MemoryStore store_;
  std::string stopped_;  // why; empty where it goes on

 protected:
  MasterServer server_{loop_.net(),
                       systemClock(),
                       Rng(1),
                       store_,
                       store_.load().value(),
                       tokens(),
                       MasterOptions{},
                       [this](const Error& error) { stopped_ = error.message; }};
  Registrar registrar_{server_, systemClock(), {anAuthority(), std::chrono::hours(1), "unix:/nowhere"}};
  wire::MasterGate::Client gate_ = makeMasterGate(server_, letsEverybodyIn());

 private:
  kj::Vector<capnp::Capability::Client> peers_;
};

class MasterAgentPort final : public MasterRole {
 public:
  DynamicCapability::Client port() override { return login(kAgentToken).getAgent(); }
};
class MasterMonitorPort final : public MasterRole {
 public:
  DynamicCapability::Client port() override { return login(kMonitorToken).getMonitor(); }
};
class MasterUserPort final : public MasterRole {
 public:
  DynamicCapability::Client port() override { return login(kOperatorToken).getUser(); }
};
class MasterGatePort final : public MasterRole {
 public:
  DynamicCapability::Client port() override { return wire::MasterGate::Client(gate_); }
};

class MasterJoinPort final : public MasterRole {
 public:
  DynamicCapability::Client port() override { return makeJoinGate(registrar_, letsEverybodyIn()); }
};

// --- An agent

// Its master has a server and nothing to say; the server's monitor takes late-bound tasks.
class AgentRole : public Role {
 public:
  AgentRole() {
    loop_.serveAt("master", played<wire::MasterGate>([this](kj::StringPtr, Context& context) {
                    context.getResults().set(
                        "agent", played<wire::AgentPort>(
                                     [this](kj::StringPtr method, Context& call) { answer(method, call); }));
                  }));
    loop_.serveAt("monitor", played<wire::MonitorGate>([this](kj::StringPtr, Context& context) {
                    context.getResults().set(
                        "launcher", played<wire::LaunchPort>([this](kj::StringPtr method, Context& call) {
                          if (method == "lateBinding") openLate(call);
                        }));
                  }));
    server_ = std::make_unique<AgentServer>(
        loop_.net(), systemClock(), Rng(1),
        AgentServerOptions{"agent-1", "unix:/nowhere", {loop_.address("master")}, kAgentToken, {}},
        [](const Error&) {}, []() {});
    loop_.until([this]() { return feed_ != nullptr; }, "the agent does not attach");
    tellServer();
    loop_.until([this]() { return late_ != nullptr; }, "the agent does not open a session at the monitor");
  }

  kj::WaitScope& scope() override { return loop_.scope(); }

  void checkServes() override {
    require(!server_->metrics().empty(), "the agent has no metrics");
    // What its master says and makes no sense ends the link, which is made anew.
    loop_.until([this]() { return letsIn(); }, "the agent lets nobody in");
    client().userRequest().send().wait(scope());
  }

 protected:
  wire::AgentGate::Client gate() { return server_->gate(letsEverybodyIn()); }
  wire::ClientPort::Client client() {
    auto request = gate().loginRequest();
    request.setToken(kOperatorToken);
    return request.send().wait(scope()).getClient();
  }
  bool letsIn() {
    auto request = gate().loginRequest();
    request.setToken(kOperatorToken);
    return request.send()
        .then([](auto&&) { return true; }, [](kj::Exception&&) { return false; })
        .wait(scope());
  }
  wire::AgentFeed::Client feed() { return KJ_ASSERT_NONNULL(feed_); }
  wire::LateAgentPort::Client late() { return KJ_ASSERT_NONNULL(late_); }

 private:
  void answer(kj::StringPtr method, Context& call) {
    if (method == "attach") {
      feed_ = call.getParams().get("feed").as<DynamicCapability>().as<wire::AgentFeed>();
      call.getResults().set("epoch", 1);
    } else if (method == "authenticate") {
      write(example<wire::Caller>(), call.getResults().init("caller").as<DynamicStruct>().as<wire::Caller>());
      call.getResults().set("user", deaf(capnp::Schema::from<wire::UserPort>()));
    } else if (method == "lateGrant") {
      const DynamicStruct::Reader asked = call.getParams();
      write(LateGrant{"agent-1", asked.get("user").as<capnp::Text>().cStr(),
                      asked.get("runAs").as<capnp::Text>().cStr(), WallTime::max()},
            call.getResults().init("grant").as<DynamicStruct>().as<wire::LateGrant>());
    }
  }
  void openLate(Context& call) {
    late_ = call.getParams().get("agent").as<DynamicCapability>().as<wire::LateAgentPort>();
    call.getResults().set("port", deaf(capnp::Schema::from<wire::LateMonitorPort>()));
    call.getResults().init("servers", 1).as<capnp::DynamicList>().set(0, "server-0");
  }
  void tellServer() {
    auto update = feed().updateRequest();
    ServerUpdate server = example<wire::ServerUpdate>();
    server.id = 0;
    server.facts = aServer("server-0");
    server.facts->address = loop_.address("monitor");
    server.status.up = true;
    write(server, update.initServers(1)[0]);
    write(QualitySettings{}, update.initSettings());
    update.setSnapshotComplete(true);
    update.send().wait(scope());
  }

  Loop loop_;
  kj::Maybe<wire::AgentFeed::Client> feed_;
  kj::Maybe<wire::LateAgentPort::Client> late_;
  std::unique_ptr<AgentServer> server_;
};

class AgentGatePort final : public AgentRole {
 public:
  DynamicCapability::Client port() override { return gate(); }
};
class AgentClientPort final : public AgentRole {
 public:
  DynamicCapability::Client port() override { return client(); }
};
class AgentUploadPort final : public AgentRole {
 public:
  DynamicCapability::Client port() override {
    auto request = client().uploadRequest();
    request.setBytes(100);
    return request.send().wait(scope()).getUpload();
  }
};
class AgentFeedPort final : public AgentRole {
 public:
  DynamicCapability::Client port() override { return feed(); }
};
class AgentLatePort final : public AgentRole {
 public:
  DynamicCapability::Client port() override { return late(); }
};
class AgentLateClientPort final : public AgentRole {
 public:
  DynamicCapability::Client port() override {
    auto request = client().lateBindingRequest();
    request.setClient(deafAs<wire::LateClient>());
    return request.send().wait(scope()).getPort();
  }
};

// --- A monitor

// Late-bound tasks run until they are stopped.
class HeldTasks final : public LateExecutor {
 public:
  std::optional<int32_t> start(LateTask) override { return std::nullopt; }
  void stop(uint32_t, late::SlotLeaseId) override {}
  void keepTo(uint32_t, const RuSet&) override {}
};

// Of an emulated server, with units for late-bound tasks.
class MonitorRole : public Role {
 public:
  MonitorRole() {
    loop_.serveAt("master", played<wire::MasterGate>([this](kj::StringPtr, Context& context) {
                    context.getResults().set(
                        "monitor", played<wire::MonitorPort>([this](kj::StringPtr method, Context& call) {
                          answer(method, call);
                        }));
                  }));
    server_.offer(late_, noOutput());
    server_.start(executor_, {aServer("server-0")});
    loop_.until([this]() { return isAttached_; }, "the monitor does not attach");
    late_.masterAttached(std::nullopt);
    late::PoolAnswer units;
    units.granted = RuSet::all(8);
    late_.handle("server-0", units);
  }

  kj::WaitScope& scope() override { return loop_.scope(); }

  void checkServes() override {
    require(!server_.metrics().empty(), "the monitor has no metrics");
    launcher().outputRequest().send().ignoreResult().then([]() {}, [](kj::Exception&&) {}).wait(scope());
  }

 protected:
  wire::MonitorGate::Client gate() { return server_.gate(letsEverybodyIn()); }
  wire::LaunchPort::Client launcher() {
    auto request = gate().loginRequest();
    request.setToken(kAgentToken);
    return request.send().wait(scope()).getLauncher();
  }
  wire::MonitorControl::Client control() { return KJ_ASSERT_NONNULL(control_); }

 private:
  void answer(kj::StringPtr method, Context& call) {
    if (method == "attach") {
      control_ = call.getParams().get("control").as<DynamicCapability>().as<wire::MonitorControl>();
      call.getResults().set("lease", Duration(std::chrono::hours(1)).count());
    } else if (method == "authenticate") {
      write(example<wire::Caller>(), call.getResults().init("caller").as<DynamicStruct>().as<wire::Caller>());
    }
  }

  Loop loop_;
  kj::Maybe<wire::MonitorControl::Client> control_;
  bool isAttached_ = false;
  MonitorServer server_{loop_.net(),
                        systemClock(),
                        Rng(1),
                        {"identity", {loop_.address("master")}, kMonitorToken},
                        noOutput(),
                        [](const Error&) {},
                        [this]() { isAttached_ = true; }};
  EmulatedRunner executor_{loop_.net().timer, systemClock(), server_, {}, [](const auto&, const auto&) {}};
  HeldTasks tasks_;
  LateBindingMonitor late_{loop_.net().timer, systemClock(), {}, {"server-0"}, tasks_, server_};
};

class MonitorGatePort final : public MonitorRole {
 public:
  DynamicCapability::Client port() override { return gate(); }
};
class MonitorLaunchPort final : public MonitorRole {
 public:
  DynamicCapability::Client port() override { return launcher(); }
};
class MonitorControlPort final : public MonitorRole {
 public:
  DynamicCapability::Client port() override { return control(); }
};
class MonitorLatePort final : public MonitorRole {
 public:
  DynamicCapability::Client port() override {
    auto request = launcher().lateBindingRequest();
    request.setAgent(deafAs<wire::LateAgentPort>());
    return request.send().wait(scope()).getPort();
  }
};

template <typename Wire, typename Served>
constexpr Port portOf(std::string_view name) {
  return {name, []() -> InterfaceSchema { return capnp::Schema::from<Wire>(); },
          []() -> std::unique_ptr<Role> { return std::make_unique<Served>(); }};
}

// New ones at the end: the corpus numbers them.
constexpr Port kPorts[] = {
    portOf<wire::MasterGate, MasterGatePort>("MasterGate"),
    portOf<wire::AgentPort, MasterAgentPort>("AgentPort"),
    portOf<wire::MonitorPort, MasterMonitorPort>("MonitorPort"),
    portOf<wire::UserPort, MasterUserPort>("UserPort"),
    portOf<wire::JoinGate, MasterJoinPort>("JoinGate"),
    portOf<wire::ClientPort, AgentClientPort>("ClientPort"),
    portOf<wire::AgentFeed, AgentFeedPort>("AgentFeed"),
    portOf<wire::LateAgentPort, AgentLatePort>("LateAgentPort"),
    portOf<wire::LateClientPort, AgentLateClientPort>("LateClientPort"),
    portOf<wire::LaunchPort, MonitorLaunchPort>("LaunchPort"),
    portOf<wire::MonitorControl, MonitorControlPort>("MonitorControl"),
    portOf<wire::LateMonitorPort, MonitorLatePort>("LateMonitorPort"),
    portOf<wire::AgentGate, AgentGatePort>("AgentGate"),
    portOf<wire::MonitorGate, MonitorGatePort>("MonitorGate"),
    portOf<wire::Upload, AgentUploadPort>("Upload"),
};

}  // namespace

size_t ports() {
  return std::size(kPorts);
}

const Port& port(size_t number) {
  return kPorts[number];
}

DynamicCapability::Client deaf(InterfaceSchema schema) {
  return played(schema, [](kj::StringPtr, Context&) {});
}

}  // namespace tarcil::fuzz
