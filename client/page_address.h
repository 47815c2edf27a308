// The address of a cluster's page for one user: with a word behind # that signs them in, once (docs/http.md).
#pragma once

#include <kj/async.h>

#include <string>

#include "rpc/connection.h"

namespace tarcil {

// `gateway`: HOST:PORT. Fails with DISCONNECTED where nobody listens there, as Denied where the token is
// wrong, and as the gateway says.
kj::Promise<std::string> fetchPageAddress(Net net, const std::string& gateway, const std::string& token);

}  // namespace tarcil
