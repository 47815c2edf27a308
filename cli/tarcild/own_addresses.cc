#include "cli/tarcild/own_addresses.h"

#include "core/base/failure.h"
#include "deploy/roles/role.h"

namespace tarcil {
namespace {

std::string nextPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  const unsigned long port = std::stoul(address.substr(colon + 1));
  if (port == 65'535) throw badInput("--join: say where new machines join; the port behind --listen is none");
  return address.substr(0, colon + 1) + std::to_string(port + 1);
}

std::string dialable(const std::string& flag, const std::string& address) {
  requireAddress(flag, address, AddressUse::kConnect);
  if (!isTcp(address)) {
    throw badInput(flag + ": machines join over a network; write HOST:PORT, the master's address for them");
  }
  return addressToDial(address, "");
}

}  // namespace

MasterAddresses ownAddresses(const std::string& listen, const std::string& join) {
  const std::string master = dialable("--listen", listen);
  return {master, dialable("--join", join.empty() ? nextPort(master) : join)};
}

}  // namespace tarcil
