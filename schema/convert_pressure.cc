#include "schema/convert_pressure.h"

#include <set>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

void write(const ServerPressure& value, wire::ServerPressure::Builder to) {
  to.setServer(text(value.server));
  to.setBackground(bytesOf(value.background));
  write(value.absent, to.initAbsent(static_cast<uint32_t>(value.absent.size())));
  auto tasks = to.initTasks(static_cast<uint32_t>(value.tasks.size()));
  for (uint32_t i = 0; i < value.tasks.size(); ++i) write(value.tasks[i], tasks[i]);
}

ServerPressure read(wire::ServerPressure::Reader from) {
  ServerPressure value{text(from.getServer()), readPressure(from.getBackground()), read(from.getAbsent())};
  for (auto task : elements(from.getTasks())) value.tasks.push_back(read(task));
  return value;
}

void write(const ResourceSet& value, capnp::List<uint8_t>::Builder to) {
  uint32_t written = 0;
  for (uint8_t i = 0; i < kResources; ++i) {
    if (value[i]) to.set(written++, i);
  }
}

ResourceSet readResources(capnp::List<uint8_t>::Reader from) {
  ResourceSet value;
  for (const uint8_t resource : from) {
    KJ_REQUIRE(resource < kResources, "there is no such resource", resource);
    value.set(resource);
  }
  return value;
}

void write(const TaskPressure& value, wire::TaskPressure::Builder to) {
  to.setAllocation(value.allocation);
  to.setCaused(bytesOf(value.caused));
  write(value.measured, to.initMeasured(static_cast<uint32_t>(value.measured.count())));
}

TaskPressure read(wire::TaskPressure::Reader from) {
  return {from.getAllocation(), readPressure(from.getCaused()), readResources(from.getMeasured())};
}

void write(const TaskCharge& value, wire::TaskCharge::Builder to) {
  to.setTask(value.task);
  to.setCaused(bytesOf(value.caused));
  write(value.measured, to.initMeasured(static_cast<uint32_t>(value.measured.count())));
}

TaskCharge read(wire::TaskCharge::Reader from) {
  return {from.getTask(), readPressure(from.getCaused()), readResources(from.getMeasured())};
}

void write(const std::vector<AbsentPressure>& value, capnp::List<wire::AbsentPressure>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) {
    to[i].setResource(static_cast<uint8_t>(value[i].resource));
    to[i].setReason(text(value[i].reason));
  }
}

std::vector<AbsentPressure> read(capnp::List<wire::AbsentPressure>::Reader from) {
  std::vector<AbsentPressure> value;
  std::set<uint8_t> seen;
  for (auto absent : elements(from)) {
    const uint8_t resource = absent.getResource();
    KJ_REQUIRE(resource < kResources, "there is no such resource", resource);
    KJ_REQUIRE(seen.insert(resource).second, "a resource is absent once", resource);
    value.push_back({static_cast<Resource>(resource), text(absent.getReason())});
  }
  return value;
}

}  // namespace tarcil
