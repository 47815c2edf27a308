#include "cli/submission.h"

#include "cli/settings.h"
#include "cli/stored_profiles.h"
#include "cli/unmeasured.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/job_check.h"
#include "formats/problems.h"
#include "formats/profile_file.h"

namespace tarcil {

void addSubmissionFlags(CLI::App& command, SubmissionFlags& flags) {
  command.add_option("FILE", flags.file, "The job file (YAML or JSON).")->required();
  command.add_option("--profile", flags.profile, "Interference profile in place of the job file's own.")
      ->type_name("FILE");
  command
      .add_option(
          "--start-after", flags.startAfter,
          "Start no task of the job before this time, in place of the job file's own start_after: UTC as "
          "2026-05-01T12:34:56Z, or from now on as +2h30m.")
      ->type_name("TIME");
}

JobFile readSubmission(const SubmissionFlags& flags) {
  JobFileOptions options;
  options.now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  if (!flags.profile.empty()) options.profile = requireInput(readProfile(flags.profile));
  JobFile job = requireInput(readJobFile(flags.file, options));
  if (!flags.startAfter.empty()) {
    const auto time = parseTimeFrom(flags.startAfter, options.now);
    if (!time) throw badInput("--start-after: " + time.error().message);
    job.spec.startAfter = *time;
    const Status good = checkJob(job.spec, !job.files.empty());
    if (!good) throw badInput("--start-after: " + good.error().message);
  }
  return job;
}

namespace {

// What can be expected of its tasks after earlier runs.
void addEarlier(const KnownProfile& known, JobSpec& job) {
  if (!job.performance || job.performance->target > 0 || !known.observed) return;
  job.earlier = expectedAfter(*known.observed, *job.performance, job.rusPerTask);
}

}  // namespace

void addStoredProfile(Cluster& cluster, const SubmissionFlags& flags, JobFile& job) {
  if (job.lookupApplication.empty()) {
    const std::string& application = job.spec.profile.application;
    if (job.spec.performance && !application.empty()) addEarlier(findProfile(cluster, application), job.spec);
    return;
  }
  const KnownProfile known = findProfile(cluster, job.lookupApplication);
  addEarlier(known, job.spec);
  // What an executor is, nobody can tell from running its job's command.
  const bool mayAssume = job.executor.empty();
  if (!known.stored && mayAssume && fetchSettings(cluster).profileUnknown) {
    job.spec.profile = profileUntilMeasured(job.lookupApplication);
    if (known.observed) job.spec.profile = withObserved(std::move(job.spec.profile), *known.observed);
  } else if (known.hasProfile()) {
    job.spec.profile = known.profile();
  } else {
    Problems problems(flags.file);
    problems.add(
        job.lookupPlace, "application",
        "no profile is stored under " + shown(job.lookupApplication) +
            ": measure one with `tarcil profile run` and store it with `tarcil profile import`, write"
            " `profile:` too, or leave `application:` out");
    throw badInput(problems.error().message);
  }
  job.spec.profileLookedUp = true;
  job.hasProfile = true;
  job.lookupApplication.clear();
}

}  // namespace tarcil
