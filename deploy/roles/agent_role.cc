#include <spdlog/spdlog.h>

#include "agent/server/agent_server.h"
#include "core/base/failure.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "rpc/token.h"

namespace tarcil {

int serveAgent(const AgentFlags& flags) {
  const std::string token = requireInput(readTokenFile(absolutePath(flags.tokenFile)));
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  addressToDial(flags.listen, flags.advertise);
  requireAddress("--master", flags.master, AddressUse::kConnect);
  RoleProcess process("agent " + flags.name, flags.role);
  process.allowManyPeers();
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  AgentServer server(
      net, systemClock(), process.rng(),
      {flags.name, addressToDial(listener.address, flags.advertise), flags.master, token, flags.options,
       flags.lateBinding},
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  process.onHangup([&server]() {
    server.forgetLogins();
    spdlog::info("SIGHUP: the master is asked about each token anew");
  });
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = serve(net.timer, kj::mv(listener.receiver),
                       [&server](LetIn letIn) { return server.gate(std::move(letIn)); });
  return process.run(kj::mv(serving));
}

}  // namespace tarcil
