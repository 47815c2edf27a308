// Transactions of agents: applied once, in order, and answered the same however often they are
// repeated (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Answers the commit, and applies it if it is new. Sequences of one epoch come without gaps:
//   last + 1         applied; the answer is stored with the effects
//   up to the last   a repeat: the stored answer, with the servers' newest states; refused where the agent
//                    has acknowledged that answer
//   beyond           refused without effect: an earlier commit is missing, so the agent lost count
// A session that does not speak for an agent (any more) is refused.
void handleCommit(EventContext& context, const CommitArrived& event);

}  // namespace tarcil::master
