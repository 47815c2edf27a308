#include "master/logic/servers/charges.h"

#include <algorithm>

#include "master/logic/health/interference.h"
#include "master/logic/health/throttling.h"

namespace tarcil::master {
namespace {

// Rounded up: as much arrives again.
uint8_t onTheReference(uint8_t measured, uint16_t share) {
  const int caused = (int{measured} * kShareUnit + share - 1) / share;
  return static_cast<uint8_t>(std::min(caused, kMaxPressure));
}

}  // namespace

void takeCharges(EventContext& context, Server& server, const std::vector<TaskPressure>& tasks) {
  Tables& tables = context.tables;
  for (const TaskPressure& task : tasks) {
    const Hold* hold = tables.jobs.holder(task.allocation);
    if (hold == nullptr || hold->server != server.record.id) continue;
    // What it would press with is what it did before.
    const bool isThrottled = master::isThrottled(tables, task.allocation);
    Pressure caused = hold->job->record.spec.profile.caused;
    ResourceSet measured;
    for (size_t i = 0; i < caused.size(); ++i) {
      if (!task.measured[i] || server.share[i] == 0) continue;
      caused[i] = onTheReference(task.caused[i], server.share[i]);
      if (isThrottled) caused[i] = std::max(caused[i], residentOf(tables, *hold).caused[i]);
      measured.set(i);
    }
    tables.servers.charge(server, task.allocation, caused, measured);
  }
}

}  // namespace tarcil::master
