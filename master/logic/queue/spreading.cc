#include "master/logic/queue/spreading.h"

namespace tarcil::master {

Spreading::Spreading(const ServerTable& servers, const Job& job)
    : placement_(job.record.spec.placement), placed_(placement_) {
  if (!isLimited()) return;
  job.tasks.forEachRecord([this, &servers](const TaskRecord& task) {
    if (!isActive(task.state)) return;
    if (const Server* server = servers.find(task.server)) add(*server);
  });
}

void Spreading::add(const Server& server) {
  if (isLimited()) placed_.add(domainOf(server));
}

void Spreading::remove(const Server& server) {
  if (isLimited()) placed_.remove(domainOf(server));
}

bool Spreading::isFull(const Server& server) const {
  return isLimited() && placed_.isFull(domainOf(server));
}

std::string Spreading::domainOf(const Server& server) const {
  return std::string(attributeOf(server.record.facts, placement_.spread).value_or(""));
}

}  // namespace tarcil::master
