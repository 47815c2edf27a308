// An agent's session with one monitor that takes late-bound tasks: what is to be said gathers here and goes
// out in batches.
#pragma once

#include <kj/async.h>

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/state/server.h"
#include "latebinding/messages.h"
#include "rpc/connection.h"
#include "rpc/link.h"
#include "schema/monitor.capnp.h"

namespace tarcil {

class LateBindingAgent;

// To one monitor, not sent yet; servers by the agent's numbers.
struct LateOutbox {
  std::vector<late::Reserve> reserves;
  std::vector<late::Cancel> cancels;
  std::vector<late::Give> gives;
  std::vector<late::Forget> forgets;
  std::vector<late::Stop> stops;
  std::vector<ServerId> surroundings;  // servers whose surroundings have changed

  bool empty() const;
  void clear();
};

// Connects, and connects anew when the connection is lost. Tells the agent of both, and of all that comes.
// Single-threaded; the agent outlives it.
class LateLink final : private kj::TaskSet::ErrorHandler {
 public:
  // `server`: one that the monitor there stands for.
  LateLink(LateBindingAgent& agent, Net net, std::string address, const std::string& server,
           std::string token, Rng rng);
  ~LateLink() noexcept(false);

  const std::string& address() const { return address_; }
  bool isUp() const { return port_ != nullptr; }

  // Servers of the session as the agent numbers them, in the monitor's order; none where the agent does not
  // know them. Empty while there is no session.
  std::vector<std::optional<ServerId>> servers;
  std::vector<std::string> serverNames;

  LateOutbox outbox;
  // Versions of the grants that the monitor has been told in this session.
  std::unordered_set<uint64_t> toldGrants;
  // Sends the outbox, unless enough calls are under way: then it goes with the first answer.
  void flush();
  // The session is of no use any more.
  void fail(const kj::Exception& exception);

 private:
  class Port;

  kj::Promise<Attached> attach(capnp::Capability::Client monitor);
  void lost(const Error& error);
  void end();
  void taskFailed(kj::Exception&& exception) override;

  LateBindingAgent& agent_;
  const std::string address_;
  const std::string token_;
  Outage outage_;
  Port* listener_ = nullptr;  // what the monitor of this session calls
  kj::Maybe<wire::LateMonitorPort::Client> port_;
  kj::Own<kj::PromiseFulfiller<void>> fault_;
  int inFlight_ = 0;
  uint64_t session_ = 0;  // counts them: what comes for an earlier one is dropped
  kj::TaskSet calls_;
  kj::Promise<void> link_;
};

}  // namespace tarcil
