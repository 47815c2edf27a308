#include "cli/late_watcher.h"

#include <utility>

#include "cli/output/output.h"
#include "cli/output/render.h"
#include "rpc/errors.h"

namespace tarcil {

LateJobWatcher::LateJobWatcher(const JobId& id, const JobSpec& spec, TaskOver onTaskOver)
    : status_(newLateJob(id, spec)), left_(status_.tasks.size()), onTaskOver_(std::move(onTaskOver)) {}

void LateJobWatcher::taskOver(const LateClientResult& result) {
  status_.tasks[result.task.task] = {stateFrom(result.outcome, result.code), result.code, result.server,
                                     result.attempts, result.phases};
  if (!result.problem.empty()) status_.problem = result.problem;
  if (onTaskOver_) onTaskOver_(result);
  if (--left_ == 0) end_.fulfiller->fulfill();
}

void LateJobWatcher::agentFailed(const std::string& agent, const std::vector<late::ClientTask>& inFlight,
                                 const std::string& reason) {
  const std::string inItsHands =
      inFlight.empty() ? "" : ", with " + counted(inFlight.size(), "task") + " in its hands";
  say("the agent at " + agent + " is given up" + inItsHands + ": " + reason + "; going on to the next");
}

void LateJobWatcher::denied(const Error& error) {
  end_.fulfiller->reject(toException(error));
}

}  // namespace tarcil
