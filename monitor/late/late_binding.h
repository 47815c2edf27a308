// The monitor's shell of late binding: sessions with agents around the queues of reservations and the pools
// of units of its servers (latebinding/reservation_queue.h, pool.h).
#pragma once

#include <kj/function.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/alarm.h"
#include "env/clock.h"
#include "env/stop.h"
#include "latebinding/pool.h"
#include "latebinding/pool_charge.h"
#include "latebinding/reservation_queue.h"
#include "monitor/late/late_executor.h"
#include "monitor/late/late_grants.h"
#include "monitor/late/late_session.h"

namespace tarcil {

struct LateMonitorOptions {
  late::QueueOptions queue;
  late::PoolOptions pool;      // of each server
  late::ChargeOptions charge;  // of each server
  // Higher than every number that this monitor's earlier starts used for slot leases (ReservationQueue)
  // and reports.
  uint64_t firstLease = 1;
};

// The master, as the pools of a monitor's servers see it.
class LateMaster {
 public:
  // Is on its way, if the master is in reach; the answer comes by LateBindingMonitor::handle().
  virtual void report(const std::string& server, const late::PoolReport& report) = 0;
  // The server's late-bound tasks cause this together. Kept, and told again after each attach.
  virtual void charge(late::PoolPressure pressure) = 0;

 protected:
  ~LateMaster() = default;
};

// What follows from what comes together goes out together, one message for each
// agent. Single-threaded.
class LateBindingMonitor final : public LateExecutorListener {
 public:
  // Takes reservations at once, and runs tasks when the servers' pools have units. `clock`, `executor` and
  // `master` outlive it.
  LateBindingMonitor(kj::Timer& timer, const Clock& clock, LateMonitorOptions options,
                     const std::vector<std::string>& servers, LateExecutor& executor, LateMaster& master);
  ~LateBindingMonitor() noexcept(false);

  // An agent of this name opens a session; empty where no certificate says it. The capability may outlive
  // this object.
  wire::LateMonitorPort::Client open(std::string name, wire::LateAgentPort::Client agent);
  const std::vector<std::string>& serverNames() const { return names_; }

  // --- The master's word. Servers that are not known here are ignored.
  // As LateExecutor::outputOf().
  AllocationId outputOf(late::SlotLeaseId lease) const { return executor_.outputOf(lease); }

  // The link to it stands: pools ask for units from the first time on. `grantKey`: as GrantKeys::set().
  void masterAttached(const std::optional<PublicKey>& grantKey);
  void handle(const std::string& server, const late::PoolAnswer& answer);
  void handle(const std::string& server, const late::PoolLimit& limit);

  void lateTaskEnded(uint32_t server, late::SlotLeaseId lease, int32_t code) override;

  // For metrics.
  struct Load {
    uint64_t units = 0, busy = 0;  // slots
    uint64_t queued = 0;           // slots that reservations still wait for
    late::QueueCounts counts;
  };
  Load load() const;

  // --- For sessions
  void take(LateMonitorSession& session, wire::LateAgentNews::Reader news);
  void sessionEnded(LateMonitorSession& session);

 private:
  struct Server {
    Server(const LateMonitorOptions& options, uint32_t index)
        : queue(options.queue, index, options.firstLease),
          pool(options.pool, options.firstLease),
          charge(options.charge) {}

    late::ReservationQueue queue;
    late::Pool pool;
    late::PoolCharge charge;
    std::unordered_map<late::SlotLeaseId, RuIndex> running;
    bool isChanged = false;  // in changed_
  };

  MonotonicTime now() const { return clock_.now().steady; }
  Server* find(const std::string& name);
  void give(LateMonitorSession& session, late::Give give, wire::LateWork::Reader work);
  void stop(uint32_t index, const late::Stop& stop);
  void changed(uint32_t index);
  // What the queues want is on its way to whom it concerns, and the pools are what the queues need.
  void carryOut();
  void sort();
  void fitPool(uint32_t index);
  static MonotonicTime nextWake(const Server& server);
  void wakeBy(MonotonicTime when);
  void advance();
  void flushSoon();

  kj::Timer& timer_;
  const Clock& clock_;
  const std::vector<std::string> names_;
  LateExecutor& executor_;
  LateMaster& master_;
  std::vector<Server> servers_;
  std::unordered_map<std::string, uint32_t> byName_;
  bool hasMaster_ = false;  // has had, since the start
  GrantKeys grantKeys_;
  std::vector<uint32_t> changed_;  // servers whose queue or pool has to be looked at
  late::QueueActions actions_;
  late::AgentNumber lastAgent_ = 0;
  std::unordered_map<late::AgentNumber, LateMonitorSession*> sessions_;
  std::set<late::AgentNumber> toTell_;
  bool isFlushing_ = false;  // soon
  std::optional<MonotonicTime> wake_;
  Alarm alarm_;
  StopsIfFailed stops_{"sending what late binding has to say"};
  kj::TaskSet flushes_;
};

}  // namespace tarcil
