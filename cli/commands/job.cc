// tarcil job: groups what can be asked of jobs and done to them.
#include "cli/commands/commands.h"

namespace tarcil {

void addJob(CLI::App& app) {
  addGroup(app, "job",
           {"job COMMAND ...", "Show, follow and cancel jobs.",
            "Query, follow and cancel jobs. A job is named by its id or by an unambiguous prefix of at "
            "least 4 digits. You see your own jobs; an operator sees everybody's.",
            "  tarcil job list\n"
            "  tarcil job status 3f2a\n"
            "  tarcil job explain 3f2a\n",
            ""},
           [](CLI::App& job) {
             addJobList(job);
             addJobStatus(job);
             addJobExplain(job);
             addJobLogs(job);
             addJobWait(job);
             addJobCancel(job);
             addJobSteering(job);
           });
}

}  // namespace tarcil
