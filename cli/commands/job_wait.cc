// tarcil job wait: until jobs have ended.
#include <algorithm>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/job_choice.h"
#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/waiting_progress.h"
#include "core/base/failure.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

constexpr int kExitTooLate = 124;  // as of timeout(1)
// Jobs that are waited for at once. An agent lets a user have some more waits under way.
constexpr size_t kAtOnce = 1'000;

struct WaitFlags {
  ContextFlags cluster;
  OutputFlags output;
  JobChoiceFlags jobs;
  bool any = false;
  std::string timeout;
};

std::optional<Duration> timeoutOf(const WaitFlags& flags) {
  if (flags.timeout.empty()) return std::nullopt;
  const auto timeout = parseDuration(flags.timeout);
  if (!timeout) throw badInput("--timeout: " + timeout.error().message);
  return *timeout;
}

// How several jobs end. Single-threaded.
class Ends final {
 public:
  // `cluster` outlives it.
  Ends(Cluster& cluster, std::vector<FoundJob> jobs)
      : cluster_(cluster), late_(cluster), jobs_(std::move(jobs)), states_(jobs_.size()) {}

  // Returns when all have ended, with `any` when one has, or when the timeout is over. Throws Failure where
  // nobody knows one.
  void wait(bool any, std::optional<Duration> timeout) {
    if ((any || timeout) && jobs_.size() > kAtOnce) {
      throw badInput("JOB: are " + std::to_string(jobs_.size()) + "; --any and --timeout are for at most " +
                     std::to_string(kAtOnce) + ", so choose fewer");
    }
    kj::Promise<void> ended = any ? anyOne() : from(0);
    WaitingProgress progress(cluster_, jobs_);
    ended = progress.during(kj::mv(ended));
    if (timeout)
      ended = ended.exclusiveJoin(cluster_.timer().afterDelay(timeout->count() * kj::MICROSECONDS));
    cluster_.wait(kj::mv(ended));
    const bool isEnough =
        any && std::ranges::any_of(states_, [](const auto& state) { return state.has_value(); });
    if (timeout && !isEnough) noteThoseThatAreOver();
    if (unknown_) throw late_.unknown(*unknown_);
  }

  const std::vector<FoundJob>& jobs() const { return jobs_; }
  // By job; nothing where it has not ended, or that is not known.
  const std::vector<std::optional<RunState>>& states() const { return states_; }

 private:
  kj::Promise<void> one(size_t i) {
    const JobId& id = jobs_[i].id;
    return foundOrNothing(waitForJob(cluster_.client(), id))
        .then([this, id](std::optional<RunState> state) -> kj::Promise<std::optional<RunState>> {
          if (state) return state;
          return late_.wait(id);
        })
        .then([this, i, id](std::optional<RunState> state) {
          if (!state) unknown_ = id;
          states_[i] = state;
        });
  }
  // The timeout may have been too short for an answer.
  void noteThoseThatAreOver() {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (states_[i]) continue;
      const auto job = tryFetchJob(cluster_, jobs_[i].id);
      if (job && isFinal(job->progress.state)) states_[i] = job->progress.state;
    }
  }
  // All from this one on.
  kj::Promise<void> from(size_t first) {
    if (first >= jobs_.size() || unknown_) return kj::READY_NOW;
    const size_t end = std::min(jobs_.size(), first + kAtOnce);
    auto some = kj::heapArrayBuilder<kj::Promise<void>>(end - first);
    for (size_t i = first; i < end; ++i) some.add(one(i));
    return kj::joinPromises(some.finish()).then([this, end]() { return from(end); });
  }
  kj::Promise<void> anyOne() {
    if (jobs_.empty()) return kj::READY_NOW;
    kj::Promise<void> first = one(0);
    for (size_t i = 1; i < jobs_.size(); ++i) first = first.exclusiveJoin(one(i));
    return first;
  }

  Cluster& cluster_;
  LateAgents late_;
  std::vector<FoundJob> jobs_;
  std::vector<std::optional<RunState>> states_;
  std::optional<JobId> unknown_;
};

int wait(const WaitFlags& flags) {
  const auto timeout = timeoutOf(flags);
  Cluster cluster(flags.cluster);
  Ends ends(cluster, chosenJobs(cluster, flags.jobs, kUnfinished));
  ends.wait(flags.any, timeout);

  const Style style = styleFor(flags.output.verbose);
  Table table({"Job", "State"});
  Json list = Json::array();
  size_t ended = 0, done = 0;
  for (size_t i = 0; i < ends.jobs().size(); ++i) {
    const FoundJob& job = ends.jobs()[i];
    const auto& state = ends.states()[i];
    if (state) ++ended;
    if (state == RunState::kDone) ++done;
    table.add({style.job(job.number, job.id), state ? std::string(name(*state)) : "not over"});
    list.push_back({{"id", toString(job.id)},
                    {"number", jsonNumber(job.number)},
                    {"state", state ? Json(name(*state)) : Json()}});
  }
  if (flags.output.json) {
    printJson(list);
  } else if (!table.empty()) {
    print(table.text());
  }
  const bool isOver = flags.any ? ended > 0 || list.empty() : ended == list.size();
  if (!isOver) {
    say("not over after " + flags.timeout + "; they go on: `tarcil job wait` waits again");
    return kExitTooLate;
  }
  return done == ended ? kExitDone : kExitFailed;
}

}  // namespace

void addJobWait(CLI::App& job) {
  addCommand(
      job, "wait",
      {"job wait [OPTIONS] [JOB...]", "Wait until jobs have ended.",
       "Returns when all of the jobs have ended and their ends are on disk; at once for jobs that "
       "are over. With --any when one of them has ended. Jobs that are chosen by --state, --user, --name, "
       "--since or --all are those that are there, and not over, when it begins. On a terminal a line on "
       "stderr "
       "says meanwhile how many of their tasks are in which state.\n\n"
       "With --json `state` is null of a job that is not over.",
       "  tarcil job wait 4711 && echo it worked\n"
       "  tarcil job wait --any --timeout 1h 4711 4712\n"
       "  tarcil job wait --all\n"
       "  tarcil job wait --json 4711 4712\n",
       "  0    every job that was waited for is done\n"
       "  1    a job failed, was cancelled or lost; or there is no such job\n"
       "  124  not over within the timeout\n"
       "  2    bad arguments\n"
       "  3    no cluster in reach, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<WaitFlags>();
        addJobChoice(command, flags->jobs);
        command.add_flag("--any", flags->any, "Until one of them has ended.");
        command.add_option("--timeout", flags->timeout, "At most so long, e.g. 90s or 2h.")
            ->type_name("DURATION");
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return wait(*flags); });
      });
}

}  // namespace tarcil
