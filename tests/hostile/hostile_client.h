// A user who has a token and means harm: valid calls, as many, as large and as badly read as they may be.
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/connection.h"

namespace tarcil::hostile {

struct Behaviour {
  std::string_view name;
  std::string_view what;  // for people
};

// In the order in which they are run where none is named.
const std::vector<Behaviour>& behaviours();

struct Target {
  std::string agent;   // its address
  std::string token;   // a user's
  size_t connections;  // at once; of a behaviour that holds connections, as many as can be had
};

// What has become of its calls.
struct Tally {
  uint64_t answered = 0;
  uint64_t refused = 0;      // with an error
  uint64_t connections = 0;  // made
  uint64_t lost = 0;         // connections
};

// Goes on until it is dropped; never resolves. A connection that is lost is made anew. Requires: one of
// behaviours(). `net` and `tally` outlive it. Single-threaded.
kj::Promise<void> misbehave(Net net, std::string_view behaviour, const Target& target, Tally& tally);

}  // namespace tarcil::hostile
