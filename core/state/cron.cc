#include "core/state/cron.h"

#include "core/base/names.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/cron_schedule.h"
#include "core/model/job_check.h"
#include "core/model/job_size.h"

namespace tarcil {

std::string whyNotAgain(const JobSpec& job) {
  if (job.policy == Policy::kLateBinding)
    return "policy: agents keep late-bound jobs, and the master makes none; write policy: quality";
  if (job.startAfter != kNever) return "start_after: the schedule says when its jobs start; leave it out";
  if (!job.after.empty()) return kNoCronAfter;
  if (job.hold)
    return "hold: each of its jobs would be held; leave it out, and hold the cron with `tarcil cron hold`";
  if (!job.measures.empty()) return "measures: an application is measured once; submit that job by itself";
  if (const size_t bytes = sizeOf(job); bytes > kMaxCronJobBytes) {
    return "job: it takes " + formatSize(bytes) + ", and a cron's may take " + formatSize(kMaxCronJobBytes) +
           "; put what is large into files on the servers";
  }
  return "";
}

Status checkCronDeadline(const std::string& what, Duration deadline) {
  if (deadline >= kMinCronDeadline && deadline <= kMaxCronDeadline) return {};
  return invalid(what + ": " + formatDuration(deadline) + " is out of range; write " +
                 formatDuration(kMinCronDeadline) + " to " + formatDuration(kMaxCronDeadline));
}

Status checkCron(const CronSpec& cron, const TimeZones& zones) {
  if (Status named = checkName("name", cron.name); !named) return named;
  if (cron.schedule.size() > kMaxScheduleCharacters) {
    return invalid("schedule: has " + std::to_string(cron.schedule.size()) + " characters; write at most " +
                   std::to_string(kMaxScheduleCharacters));
  }
  if (const auto schedule = parseCronSchedule(cron.schedule); !schedule)
    return invalid("schedule: " + schedule.error().message);
  if (cron.zone.size() > kMaxZoneCharacters)
    return invalid("zone: " + shown(cron.zone) + " is too long; write one such as Europe/Berlin");
  if (const auto zone = zones.named(cron.zone); !zone) return invalid("zone: " + zone.error().message);
  if (Status good = checkCronDeadline("deadline", cron.deadline); !good) return good;
  if (std::string problem = whyNotAgain(cron.job); !problem.empty()) return invalid(std::move(problem));
  return checkJob(cron.job, false);
}

JobId jobIdOf(const JobId& cron, WallTime planned, uint32_t choice) {
  auto time = mixed(static_cast<uint64_t>(planned.time_since_epoch().count()));
  if (choice > 0) time = mixed(time ^ mixed(choice));
  JobId id;
  for (size_t half = 0; half < 2; ++half) {
    uint64_t number = 0;
    for (size_t i = 0; i < 8; ++i) number = number << 8 | cron.bytes[8 * half + i];
    number = mixed(number ^ (half == 0 ? time : mixed(time)));
    for (size_t i = 0; i < 8; ++i) id.bytes[8 * half + i] = static_cast<uint8_t>(number >> (56 - 8 * i));
  }
  return id;
}

bool isJobOf(const Cron& cron, const JobRecord& job) {
  return job.cron == cron.spec.name && job.user == cron.user;
}

}  // namespace tarcil
