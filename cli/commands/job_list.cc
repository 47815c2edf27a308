// tarcil job list: jobs, newest first, a line each.
#include <algorithm>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/job_listing.h"
#include "cli/output/job_summary.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct ListFlags {
  ContextFlags cluster;
  OutputFlags output;
  uint32_t limit = 100;
  bool all = false;
  JobFilterFlags filter;
  std::string after, sort;
  bool reverse = false;
};

using Summary = JobListing::Summary;

using Cells = std::vector<std::string>;

Cells cellsOf(Summary job, const Style& style) {
  return {style.job(job.getNumber(), readJobId(job.getId())),
          job.getName().cStr(),
          job.getUser().cStr(),
          std::string(name(fromWire(job.getState()))),
          std::to_string(job.getTasks()),
          std::to_string(job.getQueued()),
          std::to_string(job.getActive()),
          std::to_string(job.getSucceeded()),
          std::to_string(job.getFailed()),
          style.time(wallTime(job.getSubmitted())),
          job.getReason().cStr()};
}

// One that was listed, in both forms.
struct Row {
  Json json;
  Cells cells;
};

int list(const ListFlags& flags) {
  const Style style = styleFor(flags.output.verbose);
  const JobFilter filter = jobFilterOf(flags.filter, style.clock);
  const size_t limit = flags.all ? SIZE_MAX : flags.limit;
  Cluster cluster(flags.cluster);
  std::optional<JobId> after;
  if (!flags.after.empty()) after = cluster.job(flags.after).id;

  std::vector<Row> rows;
  JobId last{};
  JobNumber lastNumber = 0;
  const size_t toFetch = flags.sort.empty() ? limit : SIZE_MAX;  // which come first is known at the end
  JobListing listing(cluster, filter, toFetch, after);
  auto entry = listing.next();
  for (; entry && rows.size() < toFetch; entry = listing.next()) {
    last = readJobId(entry->job.getId());
    lastNumber = entry->job.getNumber();
    rows.push_back({jsonOfSummary(entry->job, entry->isLate), cellsOf(entry->job, style)});
  }
  if (!flags.sort.empty()) {
    std::ranges::stable_sort(rows, std::ranges::less{},
                             [&flags](const Row& row) { return row.json.at(flags.sort); });
  }
  if (flags.reverse) std::ranges::reverse(rows);
  const size_t found = rows.size();
  if (found > limit) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end());

  Json json = Json::array();
  Table table(
      {"Job", "Name", "User", "State", "Tasks", "Queued", "Active", "Done", "Failed", "Submitted", "Reason"});
  for (Row& row : rows)
    flags.output.json ? json.push_back(std::move(row.json)) : table.add(std::move(row.cells));
  flags.output.json ? printJson(json) : print(table.empty() ? "" : table.text());
  if (rows.empty()) {
    say("no such jobs here; submit one with `tarcil submit FILE` or `tarcil run -- COMMAND`");
  } else if (found > rows.size()) {
    say("these are the first " + std::to_string(rows.size()) + " of " + std::to_string(found) +
        ": --limit N, or --all");
  } else if (entry) {
    say("these are " + std::to_string(rows.size()) + "; there are more: --limit N, --all, or --after " +
        (lastNumber > 0 ? std::to_string(lastNumber) : "id:" + toString(last)));
  }
  return kExitDone;
}

}  // namespace

void addJobList(CLI::App& job) {
  addCommand(
      job, "list",
      {"job list [OPTIONS]", "List jobs, newest first.",
       "Your jobs, newest first, running and over; as an operator, everybody's. Columns: how many tasks "
       "wait, start or run, succeeded and did not; the reason says why a job waits or how it failed. Jobs "
       "that are submitted while a long list is fetched are not in it. Jobs with policy late-binding are "
       "listed as long as their agents remember them.",
       "  tarcil job list\n"
       "  tarcil job list --state queued,running --since 1h\n"
       "  tarcil job list --sort failed --reverse\n"
       "  tarcil job list --json --all --user alice\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<ListFlags>();
        CLI::Option* limit = command.add_option("--limit", flags->limit, "How many at most; default 100.")
                                 ->check(wholeNumber(1, 1'000'000))
                                 ->type_name("N");
        command.add_flag("--all", flags->all, "As many as there are.")->excludes(limit);
        command.add_option("--after", flags->after, "Go on behind this job: older ones only.")
            ->type_name("ID");
        addJobFilterFlags(command, flags->filter);
        command
            .add_option("--sort", flags->sort,
                        "In the order of number, name, user, state, tasks, queued, active, succeeded, "
                        "failed, submitted or finished: of all, the first as --limit says.")
            ->check(oneOf({"number", "name", "user", "state", "tasks", "queued", "active", "succeeded",
                           "failed", "submitted", "finished"}))
            ->type_name("KEY");
        command.add_flag("--reverse", flags->reverse, "In the opposite order.");
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return list(*flags); });
      });
}

}  // namespace tarcil
