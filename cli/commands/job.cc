// tarcil job: groups what can be asked of jobs and done to them.
#include "cli/commands/commands.h"

namespace tarcil {

void addJob(CLI::App& app) {
  addGroup(
      app, "job",
      {"job COMMAND ...", "Show, follow and cancel jobs.",
       "A job is named by its number: 4711, and 4711.3 for its task 3. Instead of it, id:3f2a is the job "
       "whose id begins so, with at least 4 digits (those that are not all decimal do without id:), "
       "and name:sort* the one with such a name. You see your own jobs; an operator sees everybody's.",
       "  tarcil job list\n"
       "  tarcil job status 4711\n"
       "  tarcil job explain 4711\n",
       ""},
      [](CLI::App& job) {
        addJobList(job);
        addJobStatus(job);
        addJobExplain(job);
        addJobLogs(job);
        addJobFiles(job);
        addJobFetch(job);
        addJobWait(job);
        addJobCancel(job);
        addJobSteering(job);
      });
}

}  // namespace tarcil
