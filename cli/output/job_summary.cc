#include "cli/output/job_summary.h"

#include "cli/output/render.h"
#include "schema/convert.h"

namespace tarcil {

Json jsonOfSummary(wire::JobSummary::Reader job, bool isLate) {
  const std::string reason = job.getReason().cStr();
  return {{"id", toString(readJobId(job.getId()))},
          {"number", jsonNumber(job.getNumber())},
          {"name", job.getName().cStr()},
          {"user", job.getUser().cStr()},
          {"late_binding", isLate},
          {"state", name(fromWire(job.getState()))},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"tasks", job.getTasks()},
          {"queued", job.getQueued()},
          {"active", job.getActive()},
          {"succeeded", job.getSucceeded()},
          {"failed", job.getFailed()},
          {"submitted", jsonTime(wallTime(job.getSubmitted()))},
          {"finished", jsonTime(wallTime(job.getFinished()))}};
}

}  // namespace tarcil
