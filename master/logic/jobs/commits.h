// Transactions of agents: looked at once, in order, and answered the same however often they are repeated
// (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Answers the commit, with effects if it is new. Sequences of one epoch come without gaps:
//   last + 1         looked at; the answer is stored with its effects
//   up to the last   a repeat: the stored answer, with the servers' newest states; refused where the agent
//   has
//                    said that it has that answer
//   beyond           refused without effect: an earlier commit is missing, so the agent lost count
// A session that does not speak for an agent (any more) is refused.
void handleCommit(EventContext& context, const CommitArrived& event);

}  // namespace tarcil::master
