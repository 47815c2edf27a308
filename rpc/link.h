// Keeps a connection to a peer that may come and go, and that may be at one of several addresses.
#pragma once

#include <kj/function.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "rpc/connection.h"

namespace tarcil {

struct Attached {
  // Fails where the peer is of no use any more though the connection stands: it is dropped then.
  // Never resolves.
  kj::Promise<void> fault = kj::NEVER_DONE;
};

using Attach =
    kj::Function<kj::Promise<Attached>(capnp::Capability::Client peer, const std::string& address)>;
using Lost = kj::Function<void(const Error& why, const std::string& address)>;
// Resolves when that peer, which is not the one to be attached to, says that the one that is has changed, or,
// where none is attached to, that it takes attachments now; fails where it cannot say.
using Changed = kj::Function<kj::Promise<void>(capnp::Capability::Client peer, const std::string& address,
                                               bool isAttached)>;

// Connects to whom is expected there, hands the peer's bootstrap capability to `attach`, and waits for the
// connection to end or to be dropped. Whenever that happens, or connecting or attaching fails, tells `lost`
// why and tries the next address: all of them without a pause, and again after one of 20 ms at first and up
// to 1 s (400 ms where there are several, one of which is to answer soon), of which a random part of up to
// half is left out so that peers do not come all at once; from 20 ms again after a connection that ended by
// itself. With `changed` and several addresses, peers that could not be attached to are listened to until
// they are tried again, and while the link stands one of the others is: what they say ends the pause, an
// attempt that is under way, or the link. Runs until dropped; never resolves. Requires: there is an address.
kj::Promise<void> keepLinked(Net net, std::vector<std::string> addresses, Rng rng, Attach attach, Lost lost,
                             Expected whom = {}, kj::Maybe<Changed> changed = nullptr);

// So that an outage of a peer is told once and not with every try: of what `lost` says, the first word of
// each outage counts, and a word of another kind (the peer is there now, and refuses).
class Outage final {
 public:
  bool begins(const Error& error) { return std::exchange(code_, error.code) != error.code; }
  void end() { code_.reset(); }

 private:
  std::optional<ErrorCode> code_;  // of the last word; none while the peer is there
};

}  // namespace tarcil
