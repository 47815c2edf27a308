#include "agent/server/master_list.h"

#include <kj/vector.h>

#include "rpc/errors.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

constexpr auto kAnswerTime = 1 * kj::SECONDS;

kj::Promise<void> askStanding(Net net, const std::string& address, wire::MasterStanding::Builder to) {
  auto asked = connect(net, address).then([to](kj::Own<Connection>&& connection) {
    auto request = connection->bootstrap().castAs<wire::MasterGate>().standingRequest();
    return request.send()
        .then([to](auto&& answer) mutable {
          const auto standing = answer.getStanding();
          to.setName(standing.getName());
          to.setPid(standing.getPid());
          to.setLeads(standing.getLeads());
          to.setTerm(standing.getTerm());
          to.setSince(standing.getSince());
          to.setBehind(standing.getBehind());
          to.setLeader(standing.getLeader());
          to.setHasState(standing.getHasState());
        })
        .attach(kj::mv(connection));
  });
  // As the agent reaches it.
  to.setAddress(convert::text(address));
  return asked.exclusiveJoin(net.timer.afterDelay(kAnswerTime)).catch_([](kj::Exception&& exception) {
    // One that is out of reach has said nothing, and that is what is told of it.
    if (fromException(exception).code == ErrorCode::kUnavailable) return;
    if (exception.getType() == kj::Exception::Type::UNIMPLEMENTED) return;
    kj::throwFatalException(kj::mv(exception));
  });
}

}  // namespace

kj::Promise<void> askStandings(Net net, const std::vector<std::string>& masters,
                               capnp::List<wire::MasterStanding>::Builder to) {
  kj::Vector<kj::Promise<void>> all;
  for (uint32_t i = 0; i < masters.size(); ++i) all.add(askStanding(net, masters[i], to[i]));
  return kj::joinPromises(all.releaseAsArray());
}

}  // namespace tarcil
