#include "monitor/late/late_reports.h"

#include "schema/convert_support.h"

namespace tarcil {

void write(const std::string& server, const late::PoolReport& report, wire::PoolReport::Builder to) {
  to.setServer(convert::text(server));
  to.setIncarnation(report.incarnation);
  to.setSequence(report.sequence);
  to.setWanted(report.wanted);
  to.setLeast(report.least);
  const auto returned = report.returned.first(report.returned.size());
  convert::writeNumbers<uint16_t>(returned, to.initReturned(static_cast<uint32_t>(returned.size())));
}

void write(const late::PoolPressure& pressure, wire::PoolPressure::Builder to) {
  to.setServer(convert::text(pressure.server));
  convert::writeNumbers<int32_t>(pressure.caused, to.initCaused(kResources));
}

late::PoolAnswer read(wire::PoolAnswer::Reader from) {
  late::PoolAnswer answer{from.getIncarnation(), from.getSequence(), {}};
  for (const uint16_t ru : from.getGranted()) answer.granted.insert(ru);
  return answer;
}

}  // namespace tarcil
