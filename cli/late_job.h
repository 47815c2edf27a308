// Late-bound jobs in commands: handing them to an agent, and what became of their tasks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/render.h"
#include "core/state/job_state.h"
#include "formats/job_file.h"
#include "formats/json.h"
#include "latebinding/late_job.h"

namespace tarcil {

struct LateTaskStatus {
  RunState state = RunState::kQueued;  // until it is over
  int32_t code = 0;                    // kDone, kFailed; kCancelled where it was stopped
  std::string server;                  // that had it last; empty: none
  uint32_t attempts = 0;
  late::Phases phases{};  // where it has a code
};

// What became of a task that is over: kDone or kFailed where it ran to its end.
RunState stateFrom(late::Outcome outcome, int32_t code);

struct LateJobStatus {
  JobId id{};
  JobNumber number = 0;
  JobSpec spec;
  std::string user;     // empty: not known
  std::string problem;  // why it was refused; else empty
  std::string waits{};  // why tasks of it wait, where that is known (addWhyItWaits)
  WallTime submitted = kNever, finished = kNever;
  std::vector<LateTaskStatus> tasks;  // every task, in order
};

// Of a job that is submitted now.
LateJobStatus newLateJob(const JobId& id, const JobSpec& spec);

// A client of late binding goes on trying for ever: whether there is a cluster at all is asked before. Fails
// as Client::ask.
void requireCluster(Cluster& cluster);

// Hands the job to one agent after the other until all of its tasks are over. Failure where it is refused, or
// the token is.
LateJobStatus runLateJob(Cluster& cluster, const JobId& id, JobFile job);
// Hands it to an agent, which goes on with it on its own. Failure as above.
void leaveLateJob(Cluster& cluster, const JobId& id, JobFile job);

// As an agent tells of it.
LateJobStatus readLateJob(wire::LateJobDetails::Reader from);
// The tasks that are over, of one of its answers.
void addOver(wire::LateJobDetails::Reader from, LateJobStatus& status);
// From the agent that holds it or held it lately (cli/late_agents.h); where none does, the failure of a
// command that was asked for it.
LateJobStatus requireLateJob(Cluster& cluster, const JobId& id);
// Says that none of the servers is up that the job, or a task of it that is not over, requires by name:
// agents do not tell why a task waits. Asks the master for a few servers.
void addWhyItWaits(Cluster& cluster, LateJobStatus& job);

// What the most advanced unfinished task is, at the end what the worst became.
RunState stateOf(const LateJobStatus& job);
// As of other jobs (cli/output/job_status.h), with the phases of each task.
Json jsonOf(const LateJobStatus& job);
std::string textOf(const LateJobStatus& job, const Style& style);
// Where the time of its tasks went, and where they ran: for `job explain`.
Json explanationOf(const LateJobStatus& job);
std::string explanationTextOf(const LateJobStatus& job);

}  // namespace tarcil
