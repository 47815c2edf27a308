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
}

ServerPressure read(wire::ServerPressure::Reader from) {
  return {text(from.getServer()), readPressure(from.getBackground()), read(from.getAbsent())};
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
