// What a gateway is told at its start.
#pragma once

#include <kj/time.h>

#include <string>
#include <vector>

#include "core/base/time.h"
#include "gateway/logic/event_ring.h"
#include "gateway/server/replays.h"
#include "rpc/security.h"

namespace tarcil::gateway {

struct GatewayOptions {
  std::vector<std::string> agents;   // where users log in, as Client has them
  std::string token;                 // the gateway's own, of role operate: for what it follows
  Trust trust{};                     // of agents on other machines
  std::vector<std::string> hosts{};  // names that it is served under, besides where it listens
  std::string keyFile{};  // of words and sessions (gateway/server/seal.h); empty: a key of this process
  Duration refresh = std::chrono::milliseconds(500);  // an answer is repeated for so long
  uint64_t cacheBytes = 256 << 20;                    // of answers
  Duration sessionTime = std::chrono::hours(12);
  uint32_t threads = 8;  // on which the cluster is asked
  EventBounds events{};
  uint32_t streams = 1'000;  // open at once
  uint32_t streamsOfUser = 20;
  uint32_t jobs = 200'000;       // of which it has a copy
  uint64_t bodyBytes = 1 << 20;  // of a request
  uint32_t connections = 4'000;
  uint32_t connectionsOfAddress = 1'500;
  Duration requestTime = std::chrono::seconds(10);  // to send one
  Duration readTime = std::chrono::seconds(30);     // to take an answer, or a part of a stream
  ReplayOptions replay{};
};

}  // namespace tarcil::gateway
