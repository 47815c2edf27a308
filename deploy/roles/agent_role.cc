#include <spdlog/spdlog.h>

#include "agent/server/agent_server.h"
#include "core/base/failure.h"
#include "deploy/roles/role_identity.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "rpc/token.h"

namespace tarcil {

int serveAgent(const AgentFlags& asGiven) {
  AgentFlags flags = asGiven;
  RoleIdentity identity;
  if (!flags.data.empty()) {
    flags.data = absolutePath(flags.data);
    identity = readRoleIdentity(flags.data, MemberRole::kAgent);
  }
  complete(identity, MemberRole::kAgent, flags.name, flags.masters, flags.tokenFile);
  const std::string token = readToken(flags.tokenFile);
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  if (flags.vouch && isTcp(flags.listen)) {
    throw badInput("--vouch: " + flags.listen +
                   " is no Unix socket, and nothing says who is at the other end; write --listen unix:PATH");
  }
  addressToDial(flags.listen, flags.advertise);
  RoleProcess process("agent " + flags.name, flags.role, identity.credentials);
  for (const std::string& master : flags.masters) process.requireSafe("--master", master);
  process.allowManyPeers();
  process.keepFilesPrivate();
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  if (flags.vouch) openToAll(listener);
  AgentServer server(
      net, systemClock(), process.rng(),
      {flags.name, addressToDial(listener.address, flags.advertise), flags.masters, token, flags.options,
       flags.lateBinding, flags.vouch},
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  process.onHangup([&server]() {
    server.logins().forget();
    spdlog::info("SIGHUP: the master is asked about each token anew");
  });
  const auto renewal = keepFresh(process, flags.data, identity, askMaster(net, flags.masters));
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = serve(
      net.timer, kj::mv(listener.receiver), [&server](LetIn letIn) { return server.gate(std::move(letIn)); },
      net.security, Demand::kNothing);
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
