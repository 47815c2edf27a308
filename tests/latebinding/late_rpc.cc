#include "tests/latebinding/late_rpc.h"

#include <gtest/gtest.h>
#include <kj/debug.h>

#include "env/clock.h"
#include "latebinding/names.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// Lets everybody in.
class OpenMonitorGate final : public wire::MonitorGate::Server {
 public:
  explicit OpenMonitorGate(LateBindingMonitor& monitor) : monitor_(monitor) {}

  kj::Promise<void> login(LoginContext context) override {
    class Port final : public wire::LaunchPort::Server {
     public:
      explicit Port(LateBindingMonitor& monitor) : monitor_(monitor) {}
      kj::Promise<void> lateBinding(LateBindingContext context) override {
        context.getResults().setPort(monitor_.open("", context.getParams().getAgent()));
        const auto& names = monitor_.serverNames();
        convert::writeTexts(names, context.getResults().initServers(static_cast<uint32_t>(names.size())));
        return kj::READY_NOW;
      }

     private:
      LateBindingMonitor& monitor_;
    };
    context.getResults().setLauncher(kj::heap<Port>(monitor_));
    return kj::READY_NOW;
  }

 private:
  LateBindingMonitor& monitor_;
};

class OpenAgentGate final : public wire::AgentGate::Server {
 public:
  OpenAgentGate(kj::Timer& timer, LateBindingAgent& agent) : timer_(timer), agent_(agent) {}

  // The token is the user's name.
  kj::Promise<void> login(LoginContext context) override {
    class Port final : public wire::ClientPort::Server {
     public:
      Port(kj::Timer& timer, LateBindingAgent& agent, std::string user)
          : agent_(agent), user_(std::move(user)), fair_(kj::refcounted<FairCalls>(timer)) {}
      kj::Promise<void> lateBinding(LateBindingContext context) override {
        const Caller caller{.user = user_, .role = Role::kSubmit, .runAs = {user_}};
        context.getResults().setPort(
            agent_.open(fair_->user(user_), caller, context.getParams().getClient()));
        return kj::READY_NOW;
      }

     private:
      LateBindingAgent& agent_;
      const std::string user_;
      kj::Own<FairCalls> fair_;
    };
    context.getResults().setClient(kj::heap<Port>(timer_, agent_, context.getParams().getToken().cStr()));
    return kj::READY_NOW;
  }

 private:
  kj::Timer& timer_;
  LateBindingAgent& agent_;
};

}  // namespace

std::optional<int32_t> HeldTasks::start(LateTask task) {
  ++started;
  if (endAtOnce_) return 0;
  running.push_back(std::move(task));
  return std::nullopt;
}

LateRpc::LateRpc() = default;
LateRpc::~LateRpc() noexcept(false) = default;

void LateRpc::startMonitor(const std::string& name, bool endAtOnce,
                           std::map<std::string, std::string> attributes) {
  auto monitor = std::make_unique<Monitor>();
  attributes[std::string(late::kServerAttribute)] = "8";
  ServerUpdate& update = monitor->update;
  const bool isNew = !servers_.contains(name);
  update.id = isNew ? static_cast<ServerId>(servers_.size()) : servers_[name].id;
  update.facts.emplace().name = name;
  update.facts->platform = "default";
  update.facts->attributes = std::move(attributes);
  update.facts->rus = 8;
  update.facts->address = address(name);
  update.status.up = true;
  monitor->executor = std::make_unique<HeldTasks>(endAtOnce);
  LateMonitorOptions options = monitorOptions;
  options.firstLease = ++starts_ << 20;
  LateMaster& master = *this;
  monitor->binding = std::make_unique<LateBindingMonitor>(io_.provider->getTimer(), systemClock(), options,
                                                          std::vector{name}, *monitor->executor, master);
  auto listener =
      listenAt(io_.provider->getNetwork(), *io_.lowLevelProvider, address(name)).wait(io_.waitScope);
  monitor->serving = serve(io_.provider->getTimer(), kj::mv(listener.receiver),
                           [&binding = *monitor->binding](const LetIn& letIn) -> capnp::Capability::Client {
                             letIn(Peer::kUser);
                             return kj::heap<OpenMonitorGate>(binding);
                           })
                         .eagerlyEvaluate(nullptr);
  servers_[name] = update;
  monitors_[name] = std::move(monitor);
  monitors_[name]->binding->masterAttached(grantKey);
  for (auto& [agent, held] : agents_) held->binding->note(update);
}

// Answered as a master would, in a turn of its own.
void LateRpc::report(const std::string& name, const late::PoolReport& report) {
  const auto found = monitors_.find(name);
  if (found == monitors_.end()) return;
  Monitor& monitor = *found->second;
  RuSet free = RuSet::all(monitor.units);
  for (const RuIndex ru : monitor.lease.held.first(monitor.lease.held.size())) free.erase(ru);
  if (const auto answer = late::handle(monitor.lease, report, free)) {
    kj::evalLater([this, name, answer = *answer]() {
      if (const auto there = monitors_.find(name); there != monitors_.end())
        there->second->binding->handle(name, answer);
    }).detach([](kj::Exception&& exception) { ADD_FAILURE() << kj::str(exception).cStr(); });
  }
}

void LateRpc::charge(late::PoolPressure pressure) {
  ServerUpdate& update = servers_.at(pressure.server);
  update.status.sum = pressure.caused;
  for (auto& [agent, held] : agents_) held->binding->note(update);
}

void LateRpc::give(const std::string& name, uint32_t units) {
  monitors_.at(name)->units = units;
}

void LateRpc::endOne(const std::string& name, int32_t code) {
  Monitor& monitor = *monitors_.at(name);
  const LateTask task = monitor.executor->running.front();
  monitor.executor->running.erase(monitor.executor->running.begin());
  monitor.binding->lateTaskEnded(task.server, task.lease, code);
}

void LateRpc::startAgent(const std::string& name) {
  auto agent = std::make_unique<Agent>();
  agent->binding = std::make_unique<LateBindingAgent>(
      net(), systemClock(), Rng(++starts_), "token", agent->metrics, LateBindingOptions{},
      [this](uint32_t count) -> kj::Promise<JobNumber> {
        return std::exchange(nextNumber_, nextNumber_ + count);
      },
      [this, name](const std::string& user, const std::string& runAs) -> kj::Promise<LateGrant> {
        return grant(name, user, runAs);
      });
  auto listener =
      listenAt(io_.provider->getNetwork(), *io_.lowLevelProvider, address(name)).wait(io_.waitScope);
  agent->serving = serve(io_.provider->getTimer(), kj::mv(listener.receiver),
                         [this, &binding = *agent->binding](const LetIn& letIn) -> capnp::Capability::Client {
                           letIn(Peer::kUser);
                           return kj::heap<OpenAgentGate>(io_.provider->getTimer(), binding);
                         })
                       .eagerlyEvaluate(nullptr);
  for (const auto& [server, update] : servers_) agent->binding->note(update);
  agents_[name] = std::move(agent);
}

void LateRpc::startSilentAgent(const std::string& name) {
  auto listener =
      listenAt(io_.provider->getNetwork(), *io_.lowLevelProvider, address(name)).wait(io_.waitScope);
  silent_ = kj::Promise<void>(kj::NEVER_DONE).attach(kj::mv(listener.receiver)).eagerlyEvaluate(nullptr);
}

std::unique_ptr<LateClient> LateRpc::client(const std::vector<std::string>& agents,
                                            LateClientListener& listener, const std::string& user) {
  std::vector<std::string> addresses;
  for (const std::string& agent : agents) addresses.push_back(address(agent));
  return std::make_unique<LateClient>(net(), systemClock(), addresses, user, late::ClientOptions{}, listener);
}

void LateRpc::until(const std::string& what, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "waited in vain until " << what;
      return;
    }
    // Returns when something has happened, or a millisecond has passed.
    io_.provider->getTimer().afterDelay(1 * kj::MILLISECONDS).wait(io_.waitScope);
  }
}

void LateRpc::settle() {
  io_.waitScope.poll();
}

std::ostream& operator<<(std::ostream& out, const LateClientResult& result) {
  return out << "task " << result.task.task << " of job " << result.task.job << ", outcome "
             << static_cast<int>(result.outcome) << ", code " << result.code << ", attempts "
             << result.attempts << ", server '" << result.server << "', problem '" << result.problem << "'";
}

LateClientJob lateJob(uint32_t tasks) {
  static uint8_t jobs = 0;
  LateClientJob job;
  job.id.bytes[0] = ++jobs;
  job.spec.name = "short";
  job.spec.policy = Policy::kLateBinding;
  job.spec.command = {"true"};
  job.spec.tasks = tasks;
  return job;
}

}  // namespace tarcil
