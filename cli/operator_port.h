// An operator's way to the master, also where no agent is there yet: by the master's own socket on its
// machine, else by an agent.
#pragma once

#include <kj/async-io.h>

#include <memory>
#include <optional>

#include "cli/cluster.h"

namespace tarcil {

// Throws as Cluster does.
class OperatorPort final {
 public:
  explicit OperatorPort(const ContextFlags& flags);
  KJ_DISALLOW_COPY(OperatorPort);

  // Sends the request that `send(port)` makes and waits for the answer. Through an agent it may be sent
  // again.
  template <typename Send>
  auto ask(Send send) {
    if (local_) return send(local_->port).wait(local_->io.waitScope);
    return cluster_->ask([&send](Session& session) { return send(session.user); });
  }

 private:
  struct Local {
    Local(const std::string& socket, const std::string& token);

    kj::AsyncIoContext io = kj::setupAsyncIo();
    kj::Own<Connection> connection;
    wire::UserPort::Client port;
  };

  std::unique_ptr<Local> local_;
  std::optional<Cluster> cluster_;
};

}  // namespace tarcil
