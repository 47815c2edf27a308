// Calls of users to the master, which go over this agent's connection to it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "rpc/fair_calls.h"
#include "schema/master.capnp.h"

namespace tarcil {

// The master reads no more of an agent whose calls without an answer take too much, or that does not take its
// answers (rpc/connection.cc): users are not to bring their agent there. So few queries of one user are under
// way at once (SeatKind::kQuery). Calls that wait for something to happen are bounded in bytes as messages,
// of a user and in all, beyond which they fail as Exhausted.
inline constexpr uint64_t kMaxWaitBytes = 4 << 20;
inline constexpr uint64_t kMaxWaitBytesOfAll = 16 << 20;

// Single-threaded. Outlives the ports, but not the calls that wait: those may go with the event loop.
class UserCalls final {
 public:
  // The same as `master`, by whose connection its calls go, in turns with those of other users.
  wire::UserPort::Client port(kj::Own<FairCalls::User> user, wire::UserPort::Client master);

 private:
  class Port;
  class Wait;

  struct WaitBytes {
    uint64_t ofAll = 0;
    std::map<std::string, uint64_t> ofUser;
  };
  std::shared_ptr<WaitBytes> waiting_ = std::make_shared<WaitBytes>();
};

}  // namespace tarcil
