// tarcil queue: what waits, in the order in which it is tried.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/output/waiting_job.h"
#include "core/base/failure.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct QueueFlags {
  ContextFlags cluster;
  OutputFlags output;
  uint32_t limit = 100;
};

using Waiting = wire::WaitingJob::Reader;

void addRow(Table& table, Waiting waiting, const Style& style) {
  const auto job = waiting.getJob();
  const std::string wants = std::to_string(job.getQueued()) + " x " + counted(waiting.getRusPerTask(), "RU") +
                            (waiting.getGang() ? " at once" : "");
  const uint32_t priority = waiting.getPriority(), lifted = waiting.getLiftedPriority();
  const std::string counts = lifted > priority ? " (" + std::to_string(lifted) + ")" : "";
  table.add({std::to_string(waiting.getAhead() + 1), style.job(job.getNumber(), readJobId(job.getId())),
             job.getName().cStr(), job.getUser().cStr(), std::to_string(priority) + counts, wants,
             style.time(wallTime(job.getSubmitted())), style.start(wallTime(waiting.getExpectedStart())),
             job.getReason().cStr()});
}

int show(const QueueFlags& flags) {
  const Style style = styleFor(flags.output.verbose);
  Cluster cluster(flags.cluster);
  auto answer = cluster.ask([&flags](Session& session) {
    auto request = session.user.queueRequest();
    request.setLimit(flags.limit);
    return request.send();
  });
  Json json = Json::array();
  Table table({"Place", "Id", "Name", "User", "Priority", "Wants", "Submitted", "Should start", "Waits for"});
  for (Waiting waiting : answer.getJobs()) {
    flags.output.json ? json.push_back(jsonOfWaiting(waiting)) : addRow(table, waiting, style);
  }
  flags.output.json ? printJson(json) : print(table.empty() ? "" : table.text());
  const uint32_t shown = answer.getJobs().size(), all = answer.getWaiting();
  if (all == 0) {
    say("no job waits");
  } else if (shown < all) {
    say(std::to_string(shown) + " of " + counted(all, "job") +
        " that wait: the others are other users', or behind --limit");
  }
  return kExitDone;
}

}  // namespace

void addQueue(CLI::App& app) {
  addCommand(
      app, "queue",
      {"queue [OPTIONS]", "Show which jobs wait, in order, why, and when they should start.",
       "Your waiting jobs with their positions among all that wait; as an operator, everybody's. The order "
       "is the same whichever agent owns a job: higher priority first, then the user whose tasks hold the "
       "fewest units per share (`tarcil user set --help`), then older jobs. The priority of a user's jobs "
       "that get nothing for long rises; the risen one is shown in brackets. Jobs are tried in this order "
       "when capacity appears; one that cannot be placed does not delay those behind it. They should start "
       "within the time shown with a probability of 0.95, by the rate at which units came free in the last "
       "two hours on acceptable servers (`tarcil buckets`); a cluster that has just started cannot predict "
       "yet. Jobs that are held, or start later or after others, are not in it: `tarcil job list --state "
       "queued` shows them too, and why they wait.",
       "  tarcil queue\n"
       "  tarcil queue --json --limit 1000\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<QueueFlags>();
        command
            .add_option("--limit", flags->limit,
                        "How many jobs to show from the head of the queue; default 100.")
            ->check(wholeNumber(1, 1'000))
            ->type_name("N");
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
