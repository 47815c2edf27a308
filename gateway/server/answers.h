// What users' questions to the cluster are answered with: what the commands print with --json, by the same
// code.
#pragma once

#include <string>

#include "cli/cluster.h"
#include "gateway/logic/routes.h"
#include "gateway/server/reply.h"

namespace tarcil::gateway {

// On a worker thread. `body` is that of the request. What goes wrong is an answer, too. Requires:
// Answering::kAsked or kDone.
Reply answer(Cluster& cluster, const Question& question, const std::string& body);

// Some bytes of a file that is kept of a task, from `offset` on; none at its end. On a worker thread. Failure
// or a kj::Exception where it cannot be had.
std::string readFile(Cluster& cluster, const Arguments& arguments);

// The job that a request names. Failure where there is none.
FoundJob requireJob(Cluster& cluster, const std::string& text);

}  // namespace tarcil::gateway
