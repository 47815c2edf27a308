#include "master/server/standing.h"

#include "schema/convert_support.h"

namespace tarcil {

void write(const MasterStanding& standing, wire::MasterStanding::Builder to) {
  using convert::text;
  to.setName(text(standing.name));
  to.setAddress(text(standing.address));
  to.setPid(standing.pid);
  to.setLeads(standing.leads);
  to.setTerm(standing.term);
  to.setSince(standing.since.time_since_epoch().count());
  to.setBehind(static_cast<uint64_t>(standing.behind.count()));
  to.setLeader(text(standing.leader));
  to.setHasState(standing.hasState);
}

}  // namespace tarcil
