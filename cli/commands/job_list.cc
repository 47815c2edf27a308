// tarcil job list: jobs, newest first, a line each.
#include <capnp/message.h>

#include <algorithm>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "formats/point_in_time.h"
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

// Of one agent: it remembers some hundred thousand tasks.
constexpr uint32_t kMaxLateJobs = 10'000;

using Summary = wire::JobSummary::Reader;
using Page = capnp::Response<wire::UserPort::JobsResults>;

Json jsonOf(Summary job, bool isLate) {
  const std::string reason = job.getReason().cStr();
  return {{"id", toString(readJobId(job.getId()))},
          {"number", jsonNumber(job.getNumber())},
          {"name", job.getName().cStr()},
          {"user", job.getUser().cStr()},
          {"late_binding", isLate},
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
  table.add({style.job(job.getNumber(), readJobId(job.getId())), job.getName().cStr(), job.getUser().cStr(),
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
          " is no state; write some of queued, starting, running, done, failed, cancelled, lost, with "
          "commas between them");
    }
    states.push_back(toWire(*state));
  }
  return states;
}

Wanted wantedBy(const ListFlags& flags, const LocalClock& clock) {
  Wanted wanted;
  wanted.limit = flags.all ? SIZE_MAX : flags.limit;
  wanted.states = statesOf(flags);
  if (!flags.since.empty()) {
    const auto since = parsePointInTime(flags.since, clock, Looking::kBack);
    if (!since) throw badInput("--since: " + since.error().message);
    wanted.since = *since;
  }
  return wanted;
}

void writeFilter(const ListFlags& flags, const Wanted& wanted, wire::JobFilter::Builder to) {
  to.setUser(flags.user.c_str());
  to.setName(flags.name.c_str());
  auto states = to.initStates(static_cast<uint32_t>(wanted.states.size()));
  for (uint32_t i = 0; i < states.size(); ++i) states.set(i, wanted.states[i]);
  to.setSince(toWire(wanted.since));
}

// Where a job stands in the order of submission.
struct Position {
  WallTime submitted = kNever;
  JobId id{};
};

Position positionOf(Cluster& cluster, const JobId& id) {
  if (const auto job = tryFetchJob(cluster, id)) return {job->record.submitted, id};
  return {requireLateJob(cluster, id).submitted, id};
}

// The page behind the last one; the first without one.
Page nextPage(Cluster& cluster, const ListFlags& flags, const Wanted& wanted, size_t limit,
              const kj::Maybe<Page>& last, const std::optional<Position>& after) {
  return cluster.ask([&](Session& session) {
    auto request = session.user.jobsRequest();
    request.setLimit(static_cast<uint32_t>(std::min<size_t>(limit, UINT32_MAX)));
    writeFilter(flags, wanted, request.initFilter());
    KJ_IF_MAYBE (page, last) {
      request.setAfter(page->getNext());
    } else if (after) {
      auto place = request.initAfter();
      place.setSubmitted(toWire(after->submitted));
      place.setId(bytesOf(after->id));
    }
    return request.send();
  });
}

// Late-bound jobs of all agents, the newest first; with `after`, those that are older.
class LateJobs {
 public:
  LateJobs(Cluster& cluster, const ListFlags& flags, const Wanted& wanted,
           const std::optional<Position>& after) {
    capnp::MallocMessageBuilder message;
    auto filter = message.initRoot<wire::JobFilter>();
    writeFilter(flags, wanted, filter);
    lists_ = LateAgents(cluster).list(kMaxLateJobs, filter.asReader());
    for (const auto& list : lists_) {
      for (Summary job : list.getJobs()) {
        if (!after || wallTime(job.getSubmitted()) < after->submitted) jobs_.push_back(job);
      }
    }
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [](Summary one, Summary other) { return one.getSubmitted() > other.getSubmitted(); });
  }

  // The next one, if it is not older than that.
  std::optional<Summary> next(int64_t oldest) {
    if (next_ == jobs_.size() || jobs_[next_].getSubmitted() < oldest) return std::nullopt;
    return jobs_[next_++];
  }
  bool hasMore() const { return next_ < jobs_.size(); }

 private:
  std::vector<LateAgents::Jobs> lists_;
  std::vector<Summary> jobs_;
  size_t next_ = 0;
};

int list(const ListFlags& flags) {
  const Style style = styleFor(flags.output.verbose);
  const Wanted wanted = wantedBy(flags, style.clock);
  Cluster cluster(flags.cluster);
  std::optional<Position> after;
  if (!flags.after.empty()) after = positionOf(cluster, cluster.job(flags.after).id);

  Json json = Json::array();
  Table table(
      {"Job", "Name", "User", "State", "Tasks", "Queued", "Active", "Done", "Failed", "Submitted", "Reason"});
  std::optional<JobId> lastShown;
  size_t count = 0;
  const auto show = [&](Summary job, bool isLate) {
    ++count;
    lastShown = readJobId(job.getId());
    flags.output.json ? json.push_back(jsonOf(job, isLate)) : addRow(table, job, style);
  };
  LateJobs late(cluster, flags, wanted, after);
  kj::Maybe<Page> last;
  bool more = true, isCut = false;
  while (more && count < wanted.limit) {
    Page page = nextPage(cluster, flags, wanted, wanted.limit - count, last, after);
    for (Summary job : page.getJobs()) {
      while (const auto one = count < wanted.limit ? late.next(job.getSubmitted()) : std::nullopt)
        show(*one, true);
      isCut = count == wanted.limit;
      if (isCut) break;
      show(job, false);
    }
    more = isCut || page.hasNext();
    last = kj::mv(page);
  }
  while (const auto one = count < wanted.limit ? late.next(INT64_MIN) : std::nullopt) show(*one, true);
  more |= late.hasMore();
  flags.output.json ? printJson(json) : print(table.empty() ? "" : table.text());
  if (count == 0) {
    say("no such jobs here; submit one with `tarcil submit FILE` or `tarcil run -- COMMAND`");
  } else if (more) {
    say("these are " + std::to_string(count) + "; there may be more: --limit N, --all, or --after " +
        toString(*lastShown));
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
        command.add_option("--state", flags->states, "In one of these states, with commas between them.")
            ->delimiter(',')
            ->allow_extra_args(false)
            ->type_name("LIST");
        command.add_option("--user", flags->user, "Submitted by this user.")->type_name("NAME");
        command.add_option("--name", flags->name, "With this part in the name.")->type_name("PART");
        command
            .add_option("--since", flags->since,
                        "Submitted since then: 1h ago, 2026-05-01, 6:00, 'yesterday 6:00', by your clock.")
            ->type_name("TIME");
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return list(*flags); });
      });
}

}  // namespace tarcil
