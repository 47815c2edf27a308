#include "cli/submission.h"

#include "cli/after.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "cli/stored_profiles.h"
#include "cli/unmeasured.h"
#include "cli/user_clock.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/model/job_check.h"
#include "core/model/job_fields.h"
#include "formats/parameters.h"
#include "formats/point_in_time.h"
#include "formats/problems.h"
#include "formats/profile_file.h"

namespace tarcil {

void addJobFlags(CLI::App& command, SubmissionFlags& flags) {
  command.add_option("FILE", flags.file, "The job file (YAML or JSON); -: what comes on stdin.")->required();
  command
      .add_option("--set", flags.parameters,
                  "The value of one of the job file's `parameters`, for {{NAME}} in it; may be repeated.")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("--name", flags.name, "The job's name in place of the job file's.")->type_name("NAME");
  command.add_option("--tasks", flags.tasks, "How many tasks, in place of the job file's.")
      ->check(wholeNumber(1, kMaxTasks))
      ->type_name("N");
  command.add_option("--priority", flags.priority, "0 to 100, higher first, in place of the job file's.")
      ->check(wholeNumber(0, kMaxPriority))
      ->type_name("P");
  command.add_option("--profile", flags.profile, "Interference profile in place of the job file's own.")
      ->type_name("FILE");
}

void addSubmissionFlags(CLI::App& command, SubmissionFlags& flags) {
  addJobFlags(command, flags);
  command
      .add_option(
          "--after", flags.after,
          "Start after other jobs: ok:4711 (once it is done), any:4711 (ended), failed:4711, each:4711 "
          "(task by task); several with commas; 4711 alone is ok:4711.")
      ->type_name("JOBS");
  command.add_flag("--hold-unmet", flags.holdUnmet,
                   "If one of these ends otherwise, hold the job in place of cancelling it.");
  command.add_flag("--hold", flags.hold, "No task starts before `tarcil job release`.");
  command
      .add_option(
          "--start-after", flags.startAfter,
          "Start no task of the job before this time, in place of the job file's own start_after: for "
          "example 6:00, 'tomorrow 6:00', 2026-05-01T12:34:56, all by your clock, 2026-05-01T12:34:56Z, or "
          "+2h30m from now on.")
      ->type_name("TIME");
}

namespace {

// Lays over the job what the command line says of it. Failure with kExitBadInput.
void layOver(const SubmissionFlags& flags, const LocalClock& clock, JobFile& job) {
  JobSpec& spec = job.spec;
  std::string last;  // the option that a problem is put down to
  if (!flags.name.empty()) {
    const Title title{kMaxNameCharacters};
    if (!title.holds(flags.name))
      throw badInput("--name: " + shown(flags.name) + " does not fit; " + title.remedy());
    spec.name = flags.name;
  }
  if (flags.priority) spec.priority = *flags.priority;
  if (flags.hold) {
    spec.hold = true;
    last = "--hold";
  }
  if (!flags.after.empty()) {
    addAfter(flags.after, job.after);
    last = "--after";
  }
  if (flags.holdUnmet) spec.after.unmet = After::Unmet::kHold;
  if (flags.tasks) {
    spec.tasks = *flags.tasks;
    last = "--tasks";
  }
  if (!flags.startAfter.empty()) {
    const auto time = parsePointInTime(flags.startAfter, clock);
    if (!time) throw badInput("--start-after: " + time.error().message);
    spec.startAfter = *time;
    last = "--start-after";
  }
  if (last.empty()) return;
  if (std::string problem = whyNotAfter(spec, job.after.size(), job.after.each.has_value()); !problem.empty())
    throw badInput(last + ": " + problem);
  const Status good = checkJob(spec, !job.files.empty());
  if (!good) throw badInput(last + ": " + good.error().message);
}

}  // namespace

JobFile readSubmission(const SubmissionFlags& flags) {
  JobFileOptions options;
  options.clock = userClock();
  for (const std::string& pair : flags.parameters) {
    const Status added = addChosenValue(pair, options.parameters);
    if (!added) throw badInput("--set: " + added.error().message);
  }
  if (!flags.profile.empty()) options.profile = requireInput(readProfile(flags.profile));
  JobFile job = requireInput(readJobFile(flags.file, options));
  layOver(flags, options.clock, job);
  return job;
}

namespace {

// What can be expected of its tasks after earlier runs.
void addEarlier(const KnownProfile& known, JobSpec& job) {
  if (!job.performance || job.performance->target > 0 || !known.observed) return;
  job.earlier = expectedAfter(*known.observed, *job.performance, job.rusPerTask);
}

}  // namespace

void addStoredProfile(Cluster& cluster, const std::string& file, JobFile& job) {
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
    Problems problems(file);
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
