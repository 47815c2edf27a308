// The first steps of a client at an agent's address, and what went wrong there in words for whoever gave it.
#pragma once

#include <kj/async.h>
#include <kj/exception.h>

#include <string>

#include "core/base/result.h"
#include "rpc/connection.h"

namespace tarcil {

// Whatever keeps the connection from being made (nobody listens, no such host) is kUnavailable.
kj::Promise<kj::Own<Connection>> connectToAgent(Net net, const std::string& agent);

// What the login, or a call behind it, failed with at this address. Errors that an agent sent (rpc/errors.h)
// and lost connections are as fromException() says; of an address that is not an agent's it is kDenied: no
// repeat helps.
Error loginError(const std::string& agent, const kj::Exception& exception);

}  // namespace tarcil
