// The agent's shell: keeps the link to the master, turns clients' calls and the state feed into events, and
// carries out what the logic decides.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/late/late_binding.h"
#include "agent/logic/agent_logic.h"
#include "agent/server/agent_metrics.h"
#include "agent/server/master_list.h"
#include "agent/server/monitor_client.h"
#include "agent/server/user_calls.h"
#include "agent/server/user_logins.h"
#include "env/alarm.h"
#include "env/clock.h"
#include "env/stop.h"
#include "rpc/connection.h"
#include "rpc/fair_calls.h"
#include "rpc/highest_term.h"
#include "rpc/link.h"
#include "rpc/requests.h"
#include "schema/agent.capnp.h"
#include "schema/master.capnp.h"

namespace tarcil {

struct AgentServerOptions {
  std::string name;                  // of this agent in the cluster; two processes of one name take turns
  std::string address;               // where clients reach it
  std::vector<std::string> masters;  // addresses, of which one leads
  std::string token;                 // role agent
  AgentOptions logic;
  LateBindingOptions lateBinding{};
  bool vouches = false;  // for users of this machine
};

// Single-threaded; its ports call it on the event loop.
class AgentServer final {
 public:
  // `clock` outlives the server. `refused`: the master does not accept the token (Denied) or the name
  // (Invalid), or another process has taken the agent's name (Conflict); going on is of no use, and clients
  // are to find their connections broken. `attached`: the whole state has come from the master; called after
  // each attachment.
  AgentServer(Net net, const Clock& clock, Rng rng, AgentServerOptions options,
              kj::Function<void(const Error&)> refused, kj::Function<void()> attached);
  ~AgentServer() noexcept(false) { fairCalls_->stop(); }
  KJ_DISALLOW_COPY(AgentServer);

  // The bootstrap capability of one client's connection.
  wire::AgentGate::Client gate(LetIn letIn);

  // In Prometheus' text format.
  std::string metrics();

  // --- For the ports ---
  UserLogins& logins() { return logins_; }
  // Whether users of this machine are let in by who the kernel says they are, where the master allows it.
  bool vouches() const { return options_.vouches; }
  kj::Promise<void> submit(const Caller& caller, const JobId& id, JobSpec spec, FilePieces files);
  Result<JobPlan> plan(const Caller& caller, const JobSpec& spec, uint64_t seed) const {
    return logic_.plan(caller, spec, seed);
  }
  MonitorClient& monitors() { return monitors_; }
  LateBindingAgent& lateBinding() { return lateBinding_; }
  FairCalls& fairCalls() { return *fairCalls_; }
  UserCalls& userCalls() { return userCalls_; }
  kj::Timer& timer() { return timer_; }
  const std::string& cluster() const { return cluster_; }
  const std::vector<std::string>& masters() const { return options_.masters; }
  // As ClientPort.masters says.
  kj::Promise<void> tellMasters(capnp::List<wire::MasterStanding>::Builder to) {
    return askStandings(net_, options_.masters, to);
  }

  // One message of the master's feed. Returns whether the copy differed from its checksum and was dropped.
  bool takeUpdate(wire::AgentFeed::UpdateParams::Reader update);
  // Certificates that let nobody in.
  void setRevoked(const std::vector<uint64_t>& serials) {
    if (net_.security != nullptr) net_.security->setRevoked(serials);
  }
  // The link is made anew.
  void dropLink(const kj::Exception& why);

 private:
  // Another process speaks for the agent.
  void superseded();
  kj::Promise<Attached> attach(wire::MasterGate::Client master, const std::string& address);
  kj::Promise<Attached> listed(wire::AgentPort::Client port, const agent::Event& event, bool more);
  kj::Promise<JobNumber> leaseNumbers(uint32_t count);
  kj::Promise<LateGrant> lateGrant(const std::string& user, const std::string& runAs);
  Attached attached(wire::AgentPort::Client port, const agent::Event& event);
  void lost(const Error& error, const std::string& address);
  void dispatch(const agent::Event& event);
  void carryOut(agent::SendPiece& action);
  void carryOut(agent::SendCommit& action);
  void carryOut(agent::DeclineOffers& action);
  void carryOut(agent::Launch& action);
  // With the ticket, and where the monitor does not know it with the one that the master gives now.
  kj::Promise<wire::LaunchPort::Outcome> launch(const agent::Launch& launch, const std::string& ticket);
  void carryOut(agent::AnswerSubmit& action);
  void carryOut(agent::TasksPlaced& action);
  void carryOut(agent::AskSnapshot& action);
  void carryOut(agent::WakeAt& action);

  const Net net_;
  kj::Timer& timer_;
  const Clock& clock_;
  Rng rng_;
  const AgentServerOptions options_;
  kj::Function<void(const Error&)> refused_;
  kj::Function<void()> attachedCallback_;
  AgentMetrics metrics_;
  AgentLogic logic_;
  Alarm alarm_;
  MonitorClient monitors_;
  std::map<AllocationId, std::string> tickets_;  // of the answer that is being taken
  LateBindingAgent lateBinding_;
  uint64_t requests_ = 0;
  kj::Own<FairCalls> fairCalls_;
  UserCalls userCalls_;
  UserLogins logins_{timer_};
  Requests<Status> submissions_{requests_};

  // While the link stands.
  kj::Maybe<wire::AgentPort::Client> port_;
  kj::Own<kj::PromiseFulfiller<void>> fault_;  // rejected: the link is dropped and made anew
  bool attached_ = false;
  bool isAttaching_ = false;         // the snapshot that follows an attachment is not whole
  bool copyDiffers_ = false;         // as the update at hand has shown
  MonotonicTime heard_;              // the latest news of the feed; before the first, the start
  std::vector<agent::Event> early_;  // news that came before the answer to attach
  std::string cluster_;
  HighestTerm term_;
  std::string master_;  // address of the one that is attached to, or was last

  Outage outage_;                                       // of the master
  std::string problem_ = "the master is out of reach";  // as known last, while the link does not stand
  StopsIfFailed stops_{"taking an answer"};             // calls handle their own failures
  kj::TaskSet calls_{stops_};
  kj::Promise<void> link_;
};

}  // namespace tarcil
