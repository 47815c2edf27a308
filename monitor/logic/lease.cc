#include "monitor/logic/lease.h"

#include "monitor/logic/stopping.h"
#include "monitor/logic/task_life.h"

namespace tarcil::monitor {
namespace {

// A lease is renewed this often while it lasts: some renewals may be lost.
constexpr int kRenewalsPerLease = 4;

}  // namespace

void renewLease(EventContext& context) {
  Lease& lease = context.tables.lease;
  if (!context.tables.attached || lease.askedAt || lease.length == Duration::max()) return;
  if (lease.toAsk.empty() && context.now.steady < lease.renewAt) return;
  lease.askedAt = context.now.steady;
  lease.asking = std::exchange(lease.toAsk, {});
  context.act(RenewLease{{lease.asking.begin(), lease.asking.end()}});
}

void takeRenewal(EventContext& context, const LeaseRenewed& event) {
  Lease& lease = context.tables.lease;
  if (!lease.askedAt) return;
  lease.until = *lease.askedAt + lease.length;
  lease.renewAt = *lease.askedAt + lease.length / kRenewalsPerLease;
  lease.askedAt.reset();
  context.act(ExtendLease{lease.until});
  for (AllocationId allocation : event.refused) {
    lease.asking.erase(allocation);
    drop(context, allocation);
  }
  for (AllocationId allocation : std::exchange(lease.asking, {})) {
    if (Task* task = context.tables.find(allocation)) task->allowed = true;
  }
  startReady(context);
}

}  // namespace tarcil::monitor
