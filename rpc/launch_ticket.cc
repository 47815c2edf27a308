#include "rpc/launch_ticket.h"

#include <capnp/message.h>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

std::string signedPart(LaunchSpec launch) {
  launch.caused = {};
  launch.tolerated = {};
  launch.measures = false;
  launch.earlier = 0;
  launch.gang.reset();
  capnp::MallocMessageBuilder message;
  write(launch, message.initRoot<wire::LaunchSpec>());
  return "tarcil launch ticket 1" + convert::canonical(message.getRoot<wire::LaunchSpec>().asReader());
}

}  // namespace

std::string ticketFor(const LaunchSpec& launch, const MacKey& key) {
  return macOf(signedPart(launch), key);
}

bool isTicketFor(const LaunchSpec& launch, const MacKey& key, std::string_view ticket) {
  return isMacOf(signedPart(launch), key, ticket);
}

}  // namespace tarcil
