// tarcil job list: the newest jobs, a line each.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/table.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct ListFlags {
  ContextFlags cluster;
  OutputFlags output;
  uint32_t limit = 100;
};

using Summaries = capnp::List<wire::JobSummary>::Reader;

Json jsonOf(Summaries jobs) {
  Json list = Json::array();
  for (auto job : jobs) {
    const std::string reason = job.getReason().cStr();
    list.push_back({{"id", toString(readJobId(job.getId()))},
                    {"name", job.getName().cStr()},
                    {"user", job.getUser().cStr()},
                    {"state", name(fromWire(job.getState()))},
                    {"reason", reason.empty() ? Json() : Json(reason)},
                    {"tasks", job.getTasks()},
                    {"queued", job.getQueued()},
                    {"active", job.getActive()},
                    {"succeeded", job.getSucceeded()},
                    {"failed", job.getFailed()},
                    {"submitted", jsonTime(wallTime(job.getSubmitted()))},
                    {"finished", jsonTime(wallTime(job.getFinished()))}});
  }
  return list;
}

std::string textOf(Summaries jobs, const Style& style) {
  Table table(
      {"Id", "Name", "User", "State", "Tasks", "Queued", "Active", "Done", "Failed", "Submitted", "Reason"});
  for (auto job : jobs) {
    table.add({style.id(readJobId(job.getId())), job.getName().cStr(), job.getUser().cStr(),
               std::string(name(fromWire(job.getState()))), std::to_string(job.getTasks()),
               std::to_string(job.getQueued()), std::to_string(job.getActive()),
               std::to_string(job.getSucceeded()), std::to_string(job.getFailed()),
               style.time(wallTime(job.getSubmitted())), job.getReason().cStr()});
  }
  return table.empty() ? "" : table.text();
}

int list(const ListFlags& flags) {
  Cluster cluster(flags.cluster);
  auto answer = cluster.ask([limit = flags.limit](Session& session) {
    auto request = session.user.jobsRequest();
    request.setLimit(limit);
    return request.send();
  });
  const auto jobs = answer.getJobs();
  if (flags.output.json) {
    printJson(jsonOf(jobs));
  } else {
    print(textOf(jobs, styleFor(flags.output.verbose)));
    if (jobs.size() == 0)
      say("no jobs yet; hand one in with `tarcil submit FILE` or `tarcil run -- COMMAND`");
  }
  if (jobs.size() == flags.limit)
    say("these are the newest " + std::to_string(flags.limit) + "; --limit N shows more");
  return kExitDone;
}

}  // namespace

void addJobList(CLI::App& job) {
  CLI::App& command =
      addCommand(job, "list",
                 {"job list [OPTIONS]", "List jobs, newest first.",
                  "Your jobs, newest first, running and over; as an operator, everybody's. Columns:"
                  " how many tasks wait, hold a place, succeeded and did not; the reason says why a"
                  " job waits or how it failed.",
                  "  tarcil job list\n"
                  "  tarcil job list --json --limit 1000\n",
                  ""});
  auto flags = std::make_shared<ListFlags>();
  command.add_option("--limit", flags->limit, "How many at most; default 100.")
      ->check(wholeNumber(1, 1'000'000))
      ->type_name("N");
  addOutputFlags(command, flags->output);
  addClusterFlags(command, flags->cluster);
  onRun(command, [flags]() { return list(*flags); });
}

}  // namespace tarcil
