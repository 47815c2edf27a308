#include "master/logic/queue/spreading.h"

namespace tarcil::master {

Spreading::Spreading(const ServerTable& servers, const Job& job) : placement_(job.record.spec.placement) {
  for (const TaskRecord& task : job.tasks) {
    if (!isActive(task.state)) continue;
    if (const Server* server = servers.find(task.server)) add(*server);
  }
}

bool Spreading::isFull(const Server& server) const {
  if (placement_.spread == Spread::kNone) return false;
  const auto there = placed_.find(siteOf(server));
  return there != placed_.end() && there->second >= placement_.atMost;
}

std::string Spreading::siteOf(const Server& server) const {
  switch (placement_.spread) {
    case Spread::kServer:
      return server.record.facts.name;
    case Spread::kRack:
      return server.record.facts.rack;
    case Spread::kNone:
      break;
  }
  return {};
}

}  // namespace tarcil::master
