// Agents, monitors and clients of late binding over real sockets in one process and one event loop, without a
// master: tests play its part.
#pragma once

#include <kj/async-io.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "agent/late/late_binding.h"
#include "client/late/late_client.h"
#include "latebinding/pool_lease.h"
#include "monitor/late/late_binding.h"
#include "tests/support/temporary_folder.h"

namespace tarcil {

// Tasks end when a test says so, or by themselves at once.
class HeldTasks final : public LateExecutor {
 public:
  explicit HeldTasks(bool endAtOnce) : endAtOnce_(endAtOnce) {}
  ~HeldTasks() noexcept override {}

  std::optional<int32_t> start(LateTask task) override;
  void stop(uint32_t, late::SlotLeaseId lease) override { stopped.push_back(lease); }
  void keepTo(uint32_t, const RuSet&) override {}

  // Started and not ended, in the order of their starts.
  std::vector<LateTask> running;
  uint32_t started = 0;
  std::vector<late::SlotLeaseId> stopped;

 private:
  const bool endAtOnce_;
};

class LateRpc final : private LateMaster {
 public:
  LateRpc();
  ~LateRpc() noexcept(false);

  // A server with a monitor of its own. It has no units before give().
  void startMonitor(const std::string& name, bool endAtOnce = true,
                    std::map<std::string, std::string> attributes = {});
  // As with kill -9: its sessions break, and what ran there is gone.
  void killMonitor(const std::string& name) { monitors_.erase(name); }
  void give(const std::string& name, uint32_t units);
  HeldTasks& tasksOf(const std::string& name) { return *monitors_.at(name)->executor; }
  LateBindingMonitor& monitor(const std::string& name) { return *monitors_.at(name)->binding; }
  // What the master counts of a server's late-bound tasks.
  PressureSum charged(const std::string& name) { return servers_.at(name).status.sum; }
  // The first of its running tasks ends.
  void endOne(const std::string& name, int32_t code = 0);

  // Knows every server that there is and will be. Addresses stay when agents are started again.
  void startAgent(const std::string& name);
  void killAgent(const std::string& name) { agents_.erase(name); }
  // Accepts connections, and does nothing with them: as one that is stopped.
  void startSilentAgent(const std::string& name);
  LateBindingAgent& agent(const std::string& name) { return *agents_.at(name)->binding; }

  std::unique_ptr<LateClient> client(const std::vector<std::string>& agents, LateClientListener& listener,
                                     const std::string& user = "alice");

  // Runs the event loop until it holds; fails the test after 30 s.
  void until(const std::string& what, const std::function<bool()>& holds);
  template <typename T>
  T wait(kj::Promise<T> promise) {
    return promise.wait(io_.waitScope);
  }
  // Until nothing is ready to run.
  void settle();

  // Of monitors that are started from now on.
  LateMonitorOptions monitorOptions;
  std::optional<PublicKey> grantKey;

  // The master's answer to an agent that asks for a grant. Here it is of a version that gives none.
  std::function<kj::Promise<LateGrant>(const std::string& agent, const std::string& user,
                                       const std::string& runAs)>
      grant = [](const std::string&, const std::string& user, const std::string& runAs) {
        return LateGrant{{}, user, runAs, WallTime::max()};
      };

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}; }

 private:
  struct Monitor {
    ServerUpdate update;
    std::unique_ptr<HeldTasks> executor;
    std::unique_ptr<LateBindingMonitor> binding;
    late::PoolLease lease;
    uint32_t units = 0;  // that it may have
    kj::Promise<void> serving = nullptr;
  };
  struct Agent {
    AgentMetrics metrics;
    std::unique_ptr<LateBindingAgent> binding;
    kj::Promise<void> serving = nullptr;
  };

  std::string address(const std::string& name) const { return "unix:" + folder_.path() + "/" + name; }
  void report(const std::string& name, const late::PoolReport& report) override;
  // As a master that counts it: agents hear of the server's new sum.
  void charge(late::PoolPressure pressure) override;

  TemporaryFolder folder_;
  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  std::map<std::string, ServerUpdate> servers_;
  uint64_t starts_ = 0;
  JobNumber nextNumber_ = 1;
  kj::Promise<void> silent_ = nullptr;
  std::map<std::string, std::unique_ptr<Monitor>> monitors_;
  std::map<std::string, std::unique_ptr<Agent>> agents_;
};

// Keeps what it is told.
struct HeardResults final : LateClientListener {
  void taskOver(const LateClientResult& result) override { results.push_back(result); }
  void agentFailed(const std::string& agent, const std::vector<late::ClientTask>& tasks,
                   const std::string& reason) override {
    failed.push_back(agent);
    reasons.push_back(reason);
    inFlight.insert(inFlight.end(), tasks.begin(), tasks.end());
  }
  void denied(const Error& error) override { denial = error.message; }

  std::vector<LateClientResult> results;
  std::vector<std::string> failed, reasons;
  std::vector<late::ClientTask> inFlight;
  std::string denial;
};

// For messages of failed tests.
std::ostream& operator<<(std::ostream& out, const LateClientResult& result);

// A job of so many tasks that run `true`.
LateClientJob lateJob(uint32_t tasks);

}  // namespace tarcil
