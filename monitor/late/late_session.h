// An agent's session for late-bound tasks at a monitor: what is to be said gathers here and goes out
// in batches.
#pragma once

#include <kj/async.h>

#include <string>
#include <utility>
#include <vector>

#include "latebinding/messages.h"
#include "monitor/late/late_grants.h"
#include "schema/late_binding.capnp.h"

namespace tarcil {

class LateBindingMonitor;

// The port that the agent calls; the session lasts as long, or until a call to the agent
// fails. Single-threaded.
class LateMonitorSession final : public wire::LateMonitorPort::Server, private kj::TaskSet::ErrorHandler {
 public:
  // `name`: of the agent, as its certificate says; empty where it has none.
  LateMonitorSession(LateBindingMonitor& monitor, late::AgentNumber number, std::string name,
                     wire::LateAgentPort::Client agent)
      : grants(std::move(name)), monitor_(&monitor), number_(number), agent_(kj::mv(agent)), calls_(*this) {}
  ~LateMonitorSession() noexcept(false);

  kj::Promise<void> tell(TellContext context) override;

  // --- For the monitor
  late::AgentNumber number() const { return number_; }
  void forgetMonitor() { monitor_ = nullptr; }
  // In the log, once: an agent that goes on so would fill it.
  void sayDenied(const std::string& user, const std::string& runAs);

  ShownGrants grants;

  // To the agent, not sent yet.
  std::vector<late::Ask> asks;
  std::vector<late::Started> started;
  std::vector<late::NotStarted> notStarted;
  std::vector<late::Ended> ended;
  // Sends these, unless enough calls are under way: then they go with the first answer.
  void flush();

 private:
  bool hasNews() const { return !(asks.empty() && started.empty() && notStarted.empty() && ended.empty()); }
  void write(wire::LateMonitorNews::Builder to);
  void end();
  void taskFailed(kj::Exception&& exception) override;

  LateBindingMonitor* monitor_;  // none once the session is over
  const late::AgentNumber number_;
  wire::LateAgentPort::Client agent_;
  int inFlight_ = 0;
  bool isDenialSaid_ = false;
  kj::TaskSet calls_;
};

}  // namespace tarcil
