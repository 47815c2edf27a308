#include "cli/submission.h"

#include "cli/failure.h"
#include "cli/problems.h"
#include "cli/profile_file.h"
#include "cli/text.h"

namespace tarcil {

void addSubmissionFlags(CLI::App& command, SubmissionFlags& flags) {
  command.add_option("FILE", flags.file, "The job file (YAML or JSON).")->required();
  command.add_option("--profile", flags.profile, "Interference profile in place of the job file's own.")
      ->type_name("FILE");
}

JobFile readSubmission(const SubmissionFlags& flags) {
  JobFileOptions options;
  if (!flags.profile.empty()) options.profile = requireInput(readProfile(flags.profile));
  JobFile job = requireInput(readJobFile(flags.file, options));
  if (!job.lookupApplication.empty()) {
    Problems problems(flags.file);
    problems.add(job.lookupPlace, "application",
                 "no profile is stored under " + shown(job.lookupApplication) +
                     ": this version stores none; give --profile FILE, or write `profile:` too");
    throw badInput(problems.error().message);
  }
  return job;
}

}  // namespace tarcil
