// Submissions, from their arrival to the answer to the client.
#pragma once

#include <string>
#include <vector>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Refuses the submission at once or adds it to `arrivals`.
void takeSubmission(EventContext& context, const SubmitArrived& event);

// The checks of a submission on arrival. Returns the system user that its tasks run as. O(size of both).
Result<std::string> accept(const Tables& tables, const Caller& caller, const JobSpec& spec,
                           const FilePieces& files);
// The checks that need the state of the cluster: whether the job could ever run, and whether the user may
// have another waiting job. Requires: isReady().
Status admissible(const Tables& tables, const JobSpec& spec, const std::string& user);

// A job whose first commit came to nothing, or perhaps so, is submitted anew, and can no longer be refused
// here. Requires: there is one, which is not durable, with none of its commits in flight.
void submitAgain(EventContext& context, const JobId& id);

// Admits arrivals, a bounded number per event, and plans their jobs. Requires: isReady().
void admitArrivals(EventContext& context);
// Tells clients that have waited for the master for too long: arrivals are refused; a job whose commit is
// under way may have been taken, and stays until the master says so.
void expireArrivals(EventContext& context);

// Sends the next piece of input files, if there is one. Requires: isReady().
void sendPieces(EventContext& context);
// With its last piece, the submission is planned.
void takePieceAnswer(EventContext& context, const PieceAnswered& event);

void answer(EventContext& context, const std::vector<RequestId>& clients, const Status& status);
// The job is durable: answers its clients.
void acknowledge(EventContext& context, Job& job);

}  // namespace tarcil::agent
