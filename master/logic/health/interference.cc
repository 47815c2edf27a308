#include "master/logic/health/interference.h"

#include <algorithm>

namespace tarcil::master {

const Resident& residentOf(const Tables& tables, const Hold& hold) {
  return *std::ranges::find(tables.servers.at(hold.server).residents, hold.job->tasks[hold.task].allocation,
                            &Resident::allocation);
}

Pressure interferenceOn(const Resident& resident, const Server& server, ContentionModel model) {
  PressureSum others = server.status.sum;
  for (size_t i = 0; i < others.size(); ++i) others[i] -= resident.caused[i];
  return contention(model, others, server.share, server.status.background,
                    static_cast<int>(server.record.facts.rus));
}

}  // namespace tarcil::master
