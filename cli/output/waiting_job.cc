#include "cli/output/waiting_job.h"

#include "cli/output/render.h"
#include "schema/convert.h"

namespace tarcil {

Json jsonOfWaiting(wire::WaitingJob::Reader waiting) {
  const auto job = waiting.getJob();
  const std::string reason = job.getReason().cStr();
  return {{"id", toString(readJobId(job.getId()))},
          {"number", jsonNumber(job.getNumber())},
          {"name", job.getName().cStr()},
          {"user", job.getUser().cStr()},
          {"priority", waiting.getPriority()},
          {"lifted_priority", waiting.getLiftedPriority()},
          {"ahead", waiting.getAhead()},
          {"tasks", job.getTasks()},
          {"queued", job.getQueued()},
          {"active", job.getActive()},
          {"rus_per_task", waiting.getRusPerTask()},
          {"schedule", waiting.getGang() ? "gang" : "incremental"},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"submitted", jsonTime(wallTime(job.getSubmitted()))},
          {"expected_start", jsonTime(wallTime(waiting.getExpectedStart()))}};
}

}  // namespace tarcil
