#include "rpc/launch_ticket.h"

#include <capnp/message.h>

#include "schema/convert.h"

namespace tarcil {
namespace {

constexpr std::string_view kPurpose = "tarcil launch ticket 1";

// The same of the same launch, also where one end knows of fields that are not set.
std::string signedPart(LaunchSpec launch) {
  launch.caused = {};
  launch.tolerated = {};
  launch.measures = false;
  launch.earlier = 0;
  launch.gang.reset();
  capnp::MallocMessageBuilder message;
  write(launch, message.initRoot<wire::LaunchSpec>());
  const auto words = capnp::canonicalize(message.getRoot<wire::LaunchSpec>().asReader());
  const auto bytes = words.asBytes();
  std::string text(kPurpose);
  text.append(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  return text;
}

}  // namespace

std::string ticketFor(const LaunchSpec& launch, const MacKey& key) {
  return macOf(signedPart(launch), key);
}

bool isTicketFor(const LaunchSpec& launch, const MacKey& key, std::string_view ticket) {
  return isMacOf(signedPart(launch), key, ticket);
}

}  // namespace tarcil
