#include "cli/operator_port.h"

#include <cstdlib>
#include <filesystem>

#include "core/base/failure.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// The socket of a master on this machine; empty where the flags, or the environment, name another cluster, or
// none is there.
std::string localMaster(const ContextFlags& flags, const std::string& data) {
  const bool isElsewhere =
      !flags.cluster.empty() || (flags.data.empty() && std::getenv("TARCIL_CLUSTER") != nullptr);
  const std::string socket = data + "/run/master.sock";
  std::error_code ignored;
  return !isElsewhere && std::filesystem::exists(socket, ignored) ? "unix:" + socket : "";
}

std::string tokenOf(const ContextFlags& flags, const std::string& data) {
  const char* const file = std::getenv("TARCIL_TOKEN_FILE");
  if (!flags.tokenFile.empty()) return flags.tokenFile;
  return file != nullptr ? file : data + "/tokens/operate.token";
}

}  // namespace

OperatorPort::Local::Local(const std::string& socket, const std::string& token)
    : connection(connect({io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()}, socket)
                     .wait(io.waitScope)),
      port(nullptr) {
  auto login = connection->bootstrap().castAs<wire::MasterGate>().loginRequest();
  login.setToken(convert::text(token));
  auto answer = login.send().wait(io.waitScope);
  if (!answer.hasUser()) throw Failure(kExitNoCluster, "the token is not an operator's");
  port = answer.getUser();
}

OperatorPort::OperatorPort(const ContextFlags& flags) {
  const std::string data = requireInput(dataFolder(flags.data));
  if (const std::string socket = localMaster(flags, data); !socket.empty()) {
    const auto token = readTokenFile(tokenOf(flags, data));
    if (!token) throw Failure(kExitNoCluster, "cannot use the token: " + token.error().message);
    local_ = std::make_unique<Local>(socket, *token);
  } else {
    cluster_.emplace(flags);
  }
}

}  // namespace tarcil
