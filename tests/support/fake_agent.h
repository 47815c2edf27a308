// An agent's shell on virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent_logic.h"
#include "tests/support/fake_connection.h"
#include "tests/support/fake_master.h"
#include "tests/support/fake_monitor.h"
#include "tests/support/fake_world.h"

namespace tarcil {

class FakeAgent final : private FakeConnection::Peer {
 public:
  // `monitorAt` finds the monitor at an address, null where there is none.
  using Directory = std::function<FakeMonitor*(const std::string& address)>;
  FakeAgent(FakeWorld& world, FakeMaster& master, std::string name, const AgentOptions& options,
            Directory monitorAt);

  void start();
  void crash();
  void cutFor(Duration duration) { connection_.cutFor(duration); }
  bool alive() const { return logic_ != nullptr; }

  // `answer` is called once: also with Unavailable where the agent is dead or dies.
  using Answer = std::function<void(const Status&)>;
  void submit(const Caller& caller, const NewJob& job, Answer answer);

 private:
  void connected() override;
  void disconnected() override;

  void take(const agent::Event& event);
  void carryOut(const agent::Action& action);
  void launch(const agent::Launch& launch);

  FakeWorld& world_;
  FakeMaster& master_;
  const std::string name_;
  const AgentOptions options_;
  const Directory monitorAt_;
  FakeConnection connection_;
  std::unique_ptr<AgentLogic> logic_;
  uint64_t life_ = 0;  // of the process
  FakeTimer timer_;
  std::map<uint64_t, Answer> submissions_;
};

}  // namespace tarcil
