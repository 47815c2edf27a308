// Submissions: what is checked as they arrive, what waits for the master, what is refused, and when clients
// are answered.
#pragma once

#include <string>
#include <vector>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// A client submits a job. It is refused at once or waits in `arrivals`.
void takeSubmission(EventContext& context, const SubmitArrived& event);

// What is checked of a submission as it arrives; gives the system user that its tasks run as. O(size of
// both).
Result<std::string> accept(const Tables& tables, const Caller& caller, const JobSpec& spec,
                           const std::vector<InputFile>& files);
// What is checked once the whole state is known. Requires: isReady().
Status admissible(const Tables& tables, const JobSpec& spec, const std::string& user);

// Makes jobs of submissions, so many per event, and plans them. Requires: isReady().
void admitArrivals(EventContext& context);
// Refuses those that have waited for the master for too long.
void expireArrivals(EventContext& context);

void answer(EventContext& context, const std::vector<RequestId>& clients, const Status& status);
// The job's record is durable: clients that wait for that are answered.
void acknowledge(EventContext& context, Job& job);

}  // namespace tarcil::agent
