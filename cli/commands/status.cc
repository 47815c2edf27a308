// tarcil status: the cluster and your jobs on one page.
#include <map>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/job_choice.h"
#include "cli/job_listing.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

// Jobs that are looked at, at most: an operator sees everybody's.
constexpr size_t kMaxJobs = 10'000;
constexpr auto kLately = std::chrono::hours(24);

struct StatusFlags {
  ContextFlags cluster;
  bool json = false;
};

// How many there are of what, by a word for it.
using Counts = std::map<std::string, size_t>;

std::string textOf(const Counts& counts, const std::string& none) {
  std::string text;
  for (const auto& [word, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  return text.empty() ? none : text;
}

Counts countJobs(Cluster& cluster, const JobFilter& filter) {
  Counts counts;
  JobListing listing(cluster, filter, kMaxJobs, std::nullopt);
  for (size_t left = kMaxJobs; left > 0; --left) {
    const auto entry = listing.next();
    if (!entry) break;
    ++counts[std::string(name(fromWire(entry->job.getState())))];
  }
  return counts;
}

Counts countAgents(Cluster& cluster) {
  Counts counts;
  cluster.askByName(
      [](Session& session, const char* after) {
        auto request = session.user.agentsRequest();
        request.setAfter(after);
        return request.send();
      },
      [&counts](const auto& answer) {
        for (auto agent : answer.getAgents()) ++counts[agent.getAttached() ? "attached" : "away"];
      });
  return counts;
}

uint32_t waitingJobs(Cluster& cluster) {
  return cluster
      .ask([](Session& session) {
        auto request = session.user.queueRequest();
        request.setLimit(1);
        return request.send();
      })
      .getWaiting();
}

int show(const StatusFlags& flags) {
  const Style style = styleFor(false);
  Cluster cluster(flags.cluster);
  const ServerList servers = fetchServers(cluster);
  Counts states;
  uint64_t units = 0, freeUnits = 0;
  for (const ServerDetails& server : servers.servers) {
    ++states[stateOf(server)];
    if (!server.status.up) continue;
    units += server.facts.rus;
    freeUnits += server.status.free.size();
  }
  const Counts agents = countAgents(cluster);
  const uint32_t waiting = waitingJobs(cluster);
  const Counts unfinished = countJobs(cluster, {.states = {kUnfinished.begin(), kUnfinished.end()}});
  const Counts failed = countJobs(
      cluster, {.states = {kEndedBadly.begin(), kEndedBadly.end()}, .since = style.clock.now - kLately});
  sayWarning(servers.warning);
  if (flags.json) {
    printJson({{"servers", states},
               {"units", units},
               {"free_units", freeUnits},
               {"agents", agents},
               {"waiting", waiting},
               {"jobs", unfinished},
               {"ended_badly", failed},
               {"warning", servers.warning.empty() ? Json() : Json(servers.warning)}});
    return kExitDone;
  }
  print(aligned(
      {{"Servers", textOf(states, "none")},
       {"Units", std::to_string(freeUnits) + " of " + std::to_string(units) + " free where servers are up"},
       {"Agents", textOf(agents, "none")},
       {"Queue", waiting == 0 ? "empty" : counted(waiting, "job") + " of all users"},
       {"Your jobs", textOf(unfinished, "none")},
       {"Of the last day", textOf(failed, "none that did not end well")}}));
  return kExitDone;
}

}  // namespace

void addStatus(CLI::App& app) {
  addCommand(
      app, "status",
      {"status [OPTIONS]", "Show the cluster and your jobs at a glance.",
       "How many servers and agents there are and in which state, how many units of servers that are up "
       "are free, how many jobs wait, and how many of yours are under way or did not end well, of those "
       "submitted in the last 24 hours; as an operator, of everybody's, the newest 10,000. What is more "
       "is shown by `tarcil server list`, `tarcil agent list`, `tarcil queue` and `tarcil job list`.",
       "  tarcil status\n"
       "  watch tarcil status\n"
       "  tarcil status --json\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<StatusFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
