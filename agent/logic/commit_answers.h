// The master's answers to commits: grants are carried out, refused claims planned again, clients answered.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Nothing for a commit that is not in flight, but for the servers' newest states.
void takeCommitAnswer(EventContext& context, const CommitAnswer& answered);

}  // namespace tarcil::agent
