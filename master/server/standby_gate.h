// The bootstrap capability of a master that stands by: it says who leads, and refuses all else.
#pragma once

#include <functional>

#include "core/base/result.h"
#include "master/server/leader_news.h"
#include "master/server/standing.h"
#include "rpc/token.h"
#include "rpc/visitors.h"
#include "schema/master.capnp.h"

namespace tarcil {

// What the gates of a standby share; outlives them.
struct StandbyContext {
  std::function<MasterStanding()> standing;
  LeaderNews& news;
  const TokenTable& tokens;  // by which roles are known that have no certificate
};

// MasterGate.laterLeader is not.
Error notForUsers();

// Of one connection.
wire::MasterGate::Client makeStandbyGate(const StandbyContext& standby, LetIn letIn);

}  // namespace tarcil
