// What users do to jobs that they have submitted, and operators to servers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/render.h"
#include "core/base/result.h"
#include "core/state/job_state.h"
#include "formats/json.h"

namespace tarcil {

// What became of a change of one job.
struct Steered {
  Json entry;                            // as `job hold --json` and the like list it
  std::optional<std::string> left{};     // why it was left as it is
  std::optional<RunState> over{};        // the state of one that was left since it is over
  std::optional<std::string> refusal{};  // why the cluster refuses the change
};
// `isNamed`: a user named this very job. `style` is for messages. Failure where nobody knows the job, or it
// is bound late.
Steered steer(Cluster& cluster, const FoundJob& job, wire::JobChange change, int priority, bool isNamed,
              const Style& style);

// Its state before; where it was over, nothing has changed. Failure where nobody knows the job.
RunState cancelJob(Cluster& cluster, const JobId& id);
// As `job cancel --json` lists it.
Json jsonOfCancelled(const FoundJob& job, RunState before);

// All of them or, where one is not there, none. `deadline` is for a drain.
void steerServers(Cluster& cluster, const std::vector<std::string>& names, wire::ServerChange change,
                  Duration deadline);
// As `server cordon --json` and the like list them.
Json jsonOfSteered(const std::vector<std::string>& names, const std::string& state);
// How long tasks may go on by themselves: "1h"; none where nothing is said.
Result<Duration> parseDeadline(const std::string& text);

}  // namespace tarcil
