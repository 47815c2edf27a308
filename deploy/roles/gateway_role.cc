#include <spdlog/spdlog.h>

#include "core/base/failure.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "gateway/server/gateway_server.h"
#include "rpc/token.h"

namespace tarcil {
int serveGateway(const GatewayFlags& flags) {
  gateway::GatewayOptions options = flags.options;
  options.token = requireInput(readTokenFile(absolutePath(flags.tokenFile)));
  const auto agents = parseAddresses(flags.cluster);
  if (!agents) throw badInput("--cluster: " + agents.error().message);
  options.agents = *agents;
  const auto key = options.keyFile.empty()
                       ? gateway::Seal::randomKey()
                       : requireInput(gateway::Seal::readKey(absolutePath(options.keyFile)));
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  if (!flags.role.insecure && !staysOnThisMachine(flags.listen)) {
    throw badInput("--listen: " + flags.listen +
                   " is open to other machines, and what is sent there can be read on the way; listen at "
                   "127.0.0.1:PORT behind a server that "
                   "speaks TLS, or add --insecure");
  }
  options.trust = {requireInput(readIdentity(absolutePath(flags.data), systemClock().now().wall)),
                   flags.role.insecure};
  RoleProcess process("gateway", flags.role, options.trust.credentials);
  for (const std::string& agent : options.agents) process.requireSafe("--cluster", agent);
  process.allowManyPeers();
  Listener listener = process.listen(flags.listen);
  auto origins = gateway::Origins::make(listener.address, options.hosts);
  if (!origins) throw badInput("--host: " + origins.error().message);
  gateway::GatewayServer server(process.net(), systemClock(), listener.address, std::move(*origins), key,
                                std::move(options));
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = server.serve(kj::mv(listener.receiver));
  process.ready();
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
