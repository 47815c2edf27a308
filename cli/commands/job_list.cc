// tarcil job list: jobs, newest first, a line each.
#include <algorithm>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct ListFlags {
  ContextFlags cluster;
  OutputFlags output;
  uint32_t limit = 100;
  bool all = false;
  std::string after, user, name, since;
  std::vector<std::string> states;
};

// What the flags ask for, checked.
struct Wanted {
  size_t limit = 0;
  std::vector<wire::RunState> states;
  WallTime since = kNever;
};

using Summary = wire::JobSummary::Reader;
using Page = capnp::Response<wire::UserPort::JobsResults>;

Json jsonOf(Summary job) {
  const std::string reason = job.getReason().cStr();
  return {{"id", toString(readJobId(job.getId()))},
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
          {"finished", jsonTime(wallTime(job.getFinished()))}};
}

void addRow(Table& table, Summary job, const Style& style) {
  table.add({style.id(readJobId(job.getId())), job.getName().cStr(), job.getUser().cStr(),
             std::string(name(fromWire(job.getState()))), std::to_string(job.getTasks()),
             std::to_string(job.getQueued()), std::to_string(job.getActive()),
             std::to_string(job.getSucceeded()), std::to_string(job.getFailed()),
             style.time(wallTime(job.getSubmitted())), job.getReason().cStr()});
}

std::vector<wire::RunState> statesOf(const ListFlags& flags) {
  std::vector<wire::RunState> states;
  for (const std::string& text : flags.states) {
    const auto state = runStateNamed(text);
    if (!state) {
      throw badInput(
          "--state: " + shown(text) +
          " is no state; write some of queued, starting, running, done, failed, cancelled, lost, with"
          " commas between them");
    }
    states.push_back(toWire(*state));
  }
  return states;
}

Wanted wantedBy(const ListFlags& flags, WallTime now) {
  Wanted wanted;
  wanted.limit = flags.all ? SIZE_MAX : flags.limit;
  wanted.states = statesOf(flags);
  if (!flags.since.empty()) {
    const auto since = parseDuration(flags.since);
    if (!since) throw badInput("--since: " + since.error().message);
    wanted.since = now - *since;
  }
  return wanted;
}

// The page behind the last one; the first without one.
Page nextPage(Cluster& cluster, const ListFlags& flags, const Wanted& wanted, size_t limit,
              const kj::Maybe<Page>& last, const std::optional<JobId>& after) {
  return cluster.ask([&](Session& session) {
    auto request = session.user.jobsRequest();
    request.setLimit(static_cast<uint32_t>(std::min<size_t>(limit, UINT32_MAX)));
    auto filter = request.initFilter();
    filter.setUser(flags.user.c_str());
    filter.setName(flags.name.c_str());
    auto states = filter.initStates(static_cast<uint32_t>(wanted.states.size()));
    for (uint32_t i = 0; i < states.size(); ++i) states.set(i, wanted.states[i]);
    filter.setSince(toWire(wanted.since));
    KJ_IF_MAYBE (page, last) {
      request.setAfter(page->getNext());
    } else if (after) {
      request.initAfter().setId(bytesOf(*after));
    }
    return request.send();
  });
}

int list(const ListFlags& flags) {
  const Style style = styleFor(flags.output.verbose);
  const Wanted wanted = wantedBy(flags, style.now);
  Cluster cluster(flags.cluster);
  std::optional<JobId> after;
  if (!flags.after.empty()) after = cluster.job(flags.after);

  Json json = Json::array();
  Table table(
      {"Id", "Name", "User", "State", "Tasks", "Queued", "Active", "Done", "Failed", "Submitted", "Reason"});
  kj::Maybe<Page> last;
  std::optional<JobId> lastShown;
  size_t count = 0;
  bool more = true;
  while (more && count < wanted.limit) {
    Page page = nextPage(cluster, flags, wanted, wanted.limit - count, last, after);
    for (Summary job : page.getJobs()) {
      ++count;
      lastShown = readJobId(job.getId());
      flags.output.json ? json.push_back(jsonOf(job)) : addRow(table, job, style);
    }
    more = page.hasNext();
    last = kj::mv(page);
  }
  flags.output.json ? printJson(json) : print(table.empty() ? "" : table.text());
  if (count == 0) {
    say("no such jobs here; hand one in with `tarcil submit FILE` or `tarcil run -- COMMAND`");
  } else if (more) {
    say("these are " + std::to_string(count) + "; there may be more: --limit N, --all, or --after " +
        toString(*lastShown));
  }
  return kExitDone;
}

}  // namespace

void addJobList(CLI::App& job) {
  CLI::App& command = addCommand(
      job, "list",
      {"job list [OPTIONS]", "List jobs, newest first.",
       "Your jobs, newest first, running and over; as an operator, everybody's. Columns: how many tasks "
       "wait, hold"
       " a place, succeeded and did not; the reason says why a job waits or how it failed. Jobs that come in"
       " while a long list is fetched are not in it.",
       "  tarcil job list\n"
       "  tarcil job list --state queued,running --since 1h\n"
       "  tarcil job list --json --all --user alice\n",
       ""});
  auto flags = std::make_shared<ListFlags>();
  CLI::Option* limit = command.add_option("--limit", flags->limit, "How many at most; default 100.")
                           ->check(wholeNumber(1, 1'000'000))
                           ->type_name("N");
  command.add_flag("--all", flags->all, "As many as there are.")->excludes(limit);
  command.add_option("--after", flags->after, "Go on behind this job: older ones only.")->type_name("ID");
  command.add_option("--state", flags->states, "In one of these states, with commas between them.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  command.add_option("--user", flags->user, "Submitted by this user.")->type_name("NAME");
  command.add_option("--name", flags->name, "With this part in the name.")->type_name("PART");
  command.add_option("--since", flags->since, "Submitted within this time.")->type_name("DURATION");
  addOutputFlags(command, flags->output);
  addClusterFlags(command, flags->cluster);
  onRun(command, [flags]() { return list(*flags); });
}

}  // namespace tarcil
