#include "cli/tarcild/late_recorder.h"

#include <capnp/message.h>

#include <algorithm>

#include "schema/convert.h"

namespace tarcil {
namespace {

// All that an agent can remember.
constexpr uint32_t kMaxJobs = 100'000;
// A job may come to be seen so much later than its time of submission, which its agent sets.
constexpr Duration kLate = std::chrono::seconds(10);

}  // namespace

LateRecorder::LateRecorder(Cluster& cluster, WallTime began, Tell tell)
    : agents_(cluster), began_(began), tell_(std::move(tell)) {}

void LateRecorder::look(WallTime now) {
  capnp::MallocMessageBuilder message;
  auto filter = message.initRoot<wire::JobFilter>();
  filter.setSince(toWire(lastLook_ == kNever ? kNever : std::min(lastLook_, now) - kLate));
  for (const auto& list : agents_.list(kMaxJobs, filter.asReader())) {
    for (auto job : list.getJobs()) {
      const WallTime finished = wallTime(job.getFinished());
      if (finished != kNever && finished < began_) continue;  // before anybody watched
      if (known_.insert(readJobId(job.getId())).second) unfinished_.insert(readJobId(job.getId()));
    }
  }
  ask(std::set(unfinished_));
  lastLook_ = now;
}

void LateRecorder::ask(const std::set<JobId>& jobs) {
  for (const JobId& id : jobs) {
    const auto job = agents_.find(id);
    if (job && job->finished == kNever) continue;
    unfinished_.erase(id);
    if (job) tell_(*job);  // else its agent has died
  }
}

void LateRecorder::end(WallTime now) {
  look(now);
  for (const JobId& id : unfinished_) {
    if (const auto job = agents_.find(id)) tell_(*job);
  }
}

}  // namespace tarcil
