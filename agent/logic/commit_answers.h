// The master's answers to commits: granted tasks are launched, refused ones planned again, clients answered.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// An answer to a commit that is not in flight only brings states of servers.
void takeCommitAnswer(EventContext& context, const CommitAnswer& answered);

}  // namespace tarcil::agent
