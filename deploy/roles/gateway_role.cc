#include <spdlog/spdlog.h>

#include "core/base/failure.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "gateway/server/gateway_server.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

// Arguments of the command that keeps the last day.
std::vector<std::string> recorderOf(const GatewayFlags& flags) {
  std::vector<std::string> arguments = {"record",
                                        "--last",
                                        "24h",
                                        "--most",
                                        std::to_string(flags.recordingBytes) + "B",
                                        flags.options.replay.folder,
                                        "--cluster",
                                        flags.cluster,
                                        "--token-file",
                                        absolutePath(flags.tokenFile)};
  if (!flags.data.empty())
    arguments.insert(arguments.end(), {"--authority", absolutePath(flags.data) + "/identity/authority.pem"});
  if (flags.role.insecure) arguments.emplace_back("--insecure");
  return arguments;
}

}  // namespace

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
  options.replay.folder = absolutePath(options.replay.folder);
  options.replay.recorder = recorderOf(flags);
  RoleProcess process("gateway", flags.role, options.trust.credentials);
  for (const std::string& agent : options.agents) process.requireSafe("--cluster", agent);
  process.allowManyPeers();
  process.keepFilesPrivate();
  Listener listener = process.listen(flags.listen);
  auto origins = gateway::Origins::make(listener.address, options.hosts);
  if (!origins) throw badInput("--host: " + origins.error().message);
  gateway::GatewayServer server(process.net(), process.eventPort(), systemClock(), listener.address,
                                std::move(*origins), key, std::move(options));
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = server.serve(kj::mv(listener.receiver));
  process.ready();
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
