// tarcil top: where the cluster is contended, and by which tasks.
#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "cli/cluster_summary.h"
#include "cli/commands/commands.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/watch.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

struct TopFlags {
  ContextFlags cluster;
  bool json = false, once = false;
  uint32_t limit = 10;
  std::string interval = "2";
};

// A task on one of the servers that are shown.
struct RunningTask {
  ServerTask task;
  std::string server;
};

uint32_t unitsInUse(const ServerDetails& server) {
  const auto free = static_cast<uint32_t>(server.status.free.size());
  return server.facts.rus - std::min(server.facts.rus, free);
}

template <typename Values>
int totalOf(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

int worstOf(const Pressure& pressure) {
  return *std::ranges::max_element(pressure);
}

// The one on which a newcomer would feel the most on any resource first; then the fuller one.
bool isMoreContended(const ServerDetails& one, const ServerDetails& other) {
  const auto key = [](const ServerDetails& server) {
    return std::tuple(worstOf(server.contention), totalOf(server.contention), unitsInUse(server));
  };
  return key(one) > key(other) || (key(one) == key(other) && one.facts.name < other.facts.name);
}

bool usesMore(const RunningTask& one, const RunningTask& other) {
  const auto key = [](const RunningTask& task) {
    return std::tuple(totalOf(task.task.charged), task.task.rus.size());
  };
  return key(one) > key(other);
}

std::vector<ServerDetails> mostContended(std::vector<ServerDetails> servers, size_t limit) {
  std::erase_if(servers, [](const ServerDetails& server) { return !server.status.up; });
  std::ranges::sort(servers, isMoreContended);
  if (servers.size() > limit) servers.resize(limit);
  return servers;
}

// Those on these servers that use the most. A server that goes meanwhile has none.
std::vector<RunningTask> tasksOn(Cluster& cluster, const std::vector<ServerDetails>& servers, size_t limit) {
  auto answers = kj::heapArrayBuilder<kj::Promise<std::optional<ServerDetails>>>(servers.size());
  for (const ServerDetails& server : servers)
    answers.add(foundOrNothing(fetchServer(cluster.client(), server.facts.name)));
  std::vector<RunningTask> tasks;
  for (const auto& server : cluster.wait(kj::joinPromises(answers.finish()))) {
    if (!server) continue;
    for (const ServerTask& task : server->tasks) tasks.push_back({task, server->facts.name});
  }
  std::ranges::stable_sort(tasks, usesMore);
  if (tasks.size() > limit) tasks.resize(limit);
  return tasks;
}

// --- JSON ---

Json lineOf(const ServerDetails& server) {
  return {{"name", server.facts.name},
          {"state", stateOf(server)},
          {"rus", server.facts.rus},
          {"rus_in_use", unitsInUse(server)},
          {"cores", server.facts.cores},
          {"memory_allocatable_bytes", byteSupplyOf(server.facts).allocatable.memory},
          {"memory_allocated_bytes", server.status.allocated.memory},
          {"contention", jsonByResource(server.contention)}};
}

Json lineOf(const RunningTask& running) {
  const ServerTask& task = running.task;
  return {{"job", toString(task.job)},
          {"number", jsonNumber(task.number)},
          {"task", task.task},
          {"server", running.server},
          {"rus", task.rus},
          {"extras", task.extras},
          {"charged", jsonByResource(task.charged)},
          {"measured", namesOf(task.measured)}};
}

template <typename Values>
Json jsonList(const std::vector<Values>& values) {
  Json list = Json::array();
  for (const Values& value : values) list.push_back(lineOf(value));
  return list;
}

// --- Text ---

// "6 of 8".
std::string ofAll(const std::string& some, const std::string& all) {
  return some + " of " + all;
}

std::string memoryText(const ServerDetails& server) {
  const uint64_t allocatable = byteSupplyOf(server.facts).allocatable.memory;
  return allocatable == 0 ? "" : ofAll(formatSize(server.status.allocated.memory), formatSize(allocatable));
}

std::string serversText(const std::vector<ServerDetails>& servers) {
  Table table({"Server", "State", "Units in use", "Cores", "Memory claimed", "Contention"});
  for (const ServerDetails& server : servers) {
    table.add({server.facts.name, stateOf(server),
               ofAll(std::to_string(unitsInUse(server)), std::to_string(server.facts.rus)),
               std::to_string(server.facts.cores), memoryText(server), pressureText(server.contention)});
  }
  return table.empty() ? "No server is up.\n" : table.text();
}

std::string overText(const ServerTask& task) {
  std::vector<std::string_view> words;
  for (const size_t resource : task.over) words.push_back(kResourceNames[resource]);
  return joined(words);
}

std::string tasksText(const std::vector<RunningTask>& tasks, const Style& style) {
  Table table({"Task", "Server", "Units", "Feels too much", "Causes"});
  for (const auto& [task, server] : tasks) {
    table.add({style.task(task.number, task.job, task.task), server, std::to_string(task.rus.size()),
               overText(task), pressureText(task.charged)});
  }
  return table.empty() ? "No tasks.\n" : table.text();
}

int look(const TopFlags& flags) {
  Cluster cluster(flags.cluster);
  const ClusterSummary summary = fetchSummary(cluster);
  const auto servers = mostContended(summary.servers.servers, flags.limit);
  const auto tasks = tasksOn(cluster, servers, flags.limit);
  sayWarning(summary.servers.warning);
  if (flags.json) {
    printJson({{"cluster", jsonOf(summary)}, {"servers", jsonList(servers)}, {"tasks", jsonList(tasks)}});
  } else {
    print(aligned(fieldsOf(summary)) + "\n" + serversText(servers) + "\n" +
          tasksText(tasks, styleFor(false)));
  }
  return kExitDone;
}

}  // namespace

void addTop(CLI::App& app) {
  addCommand(
      app, "top",
      {"top [OPTIONS]", "Watch where the cluster is contended, and by which tasks.",
       "The cluster at a glance, as `tarcil status` shows it; below it the servers that are up, the most "
       "contended first, with their units in use and the memory that tasks have claimed; and the tasks on "
       "these servers that cause the most, as they are charged for it (as measured, else as their profiles "
       "say). Contention is the pressure, 0 to 99 per resource, on a task that is placed there.\n\n"
       "It is shown anew every two seconds: on a terminal in place, until you press q; elsewhere below the "
       "last time; with --json as one line each time. `tarcil server show` has more of one server.",
       "  tarcil top\n"
       "  tarcil top --limit 20 --interval 10\n"
       "  tarcil top --once --json | jq -r '.servers[0].name'\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<TopFlags>();
        command
            .add_option("--limit", flags->limit, "How many servers and how many tasks, at most; default 10.")
            ->check(wholeNumber(1, 100))
            ->type_name("N");
        command
            .add_option("--interval", flags->interval,
                        "Seconds from one answer to the next question; default 2, at least 0.5.")
            ->check(watchPeriod())
            ->type_name("SECONDS");
        command.add_flag("--once", flags->once, "Show it once and end.");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() {
          if (flags->once) return look(*flags);
          return watch({"tarcil top", periodOf(flags->interval), flags->json},
                       [flags]() { return look(*flags); });
        });
      });
}

}  // namespace tarcil
