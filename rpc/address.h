// Where a role listens: "unix:/path/to/socket" or "host:port".
#pragma once

#include <kj/async-io.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

enum class AddressUse {
  kConnect,
  kListen,  // port 0 is allowed: any free one
};

// Success where the text has one of the two forms; else Invalid, saying what is wrong and what to write. The
// host is a name, an IPv4 address or an IPv6 address in brackets; whether it exists shows when it is used.
Status checkAddress(const std::string& address, AddressUse use);

// "host:port", and no Unix socket.
bool isTcp(const std::string& address);

// What is sent there never leaves this machine: a Unix socket, or a loopback address by its usual names.
bool staysOnThisMachine(const std::string& address);

// Of one cluster, that a peer is told of.
inline constexpr size_t kMaxMasters = 16;

// Comma-separated addresses to connect to; each is checked. Empty parts are Invalid.
Result<std::vector<std::string>> parseAddresses(const std::string& list);

// The promise fails with DISCONNECTED where nobody listens; the call itself does not throw. Works for socket
// paths longer than the 107 bytes of sockaddr_un.
kj::Promise<kj::Own<kj::AsyncIoStream>> connectTo(kj::Network& network, kj::LowLevelAsyncIoProvider& io,
                                                  const std::string& address);

struct Listener {
  kj::Own<kj::ConnectionReceiver> receiver;
  std::string address;  // with the port that was chosen where 0 was asked for
};

// Lets every user of this machine connect. Invalid, as an exception, where that cannot be done. Requires: it
// is a Unix socket.
void openToAll(const Listener& listener);

// A Unix socket is made anew, readable and writable by its owner only; an old one at the path is removed
// unless somebody listens there (then it fails: the role runs already). What fails is Invalid, with a text
// for people.
kj::Promise<Listener> listenAt(kj::Network& network, kj::LowLevelAsyncIoProvider& io,
                               const std::string& address);

}  // namespace tarcil
