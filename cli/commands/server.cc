// tarcil server: the machines of the cluster and what goes on on them.
#include <algorithm>
#include <cmath>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/output/server_json.h"
#include "cli/output/table.h"
#include "cli/output/violation.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

struct ServerFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::string name;
};

// Why it takes no new tasks, and how long that lasts where that is known.
std::string reasonOf(const ServerDetails& server, const Style& style) {
  if (server.status.quarantined) return server.reason + "; ends " + style.time(server.asideUntil);
  if (server.drainAt != kNever) return server.reason + "; tasks are ended " + style.time(server.drainAt);
  return server.reason;
}

// --- Text ---

std::string attributesText(const ServerFacts& facts) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : facts.attributes) parts.push_back(key + "=" + value);
  return joined(parts);
}

std::string taskText(const ServerTask& task, const Style& style) {
  return style.task(task.number, task.job, task.task);
}

// As a part of what is expected; empty where it is not known.
std::string performanceText(const ServerTask& task) {
  if (!task.performance || !isSound(*task.performance)) return "";
  return std::to_string(std::lround(100 * partOf(*task.performance))) + "%";
}

std::string offenceText(const Offence& offence, const Style& style) {
  std::vector<std::string> victims, offenders;
  for (const ServerTask* task : offence.victims) victims.push_back(taskText(*task, style));
  for (const ServerTask* task : offence.offenders) {
    offenders.push_back(taskText(*task, style) + " (" + std::to_string(task->caused[offence.resource]) + ")");
  }
  return std::string(kResourceNames[offence.resource]) + ": too much for " + joined(victims) +
         "; caused by " + (offenders.empty() ? "no task of this cluster" : joined(offenders)) + "\n";
}

// One line for each reason, with the resources that it keeps from being measured.
std::string absentText(const std::vector<AbsentPressure>& absent) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, resources
  for (const AbsentPressure& one : absent) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&one](const auto& line) { return line.first == one.reason; });
    auto& line = found == lines.end() ? lines.emplace_back(one.reason, "") : *found;
    line.second.append(line.second.empty() ? "" : ", ").append(one.resourceName());
  }
  std::string text;
  for (const auto& [reason, resources] : lines) text += "  " + resources + ": " + reason + "\n";
  return text;
}

// Empty where it is not counted.
std::string freeBytesText(const ServerDetails& server, uint64_t ByteResources::*of) {
  const uint64_t allocatable = byteSupplyOf(server.facts).allocatable.*of;
  const uint64_t allocated = server.status.allocated.*of;
  return allocatable == 0 ? "" : formatSize(allocatable - std::min(allocatable, allocated));
}

std::string overcommitText(const ServerFacts& facts) {
  if (facts.memoryOvercommit == 100) return "";
  return ", of which tasks may claim " + formatSize(byteSupplyOf(facts).allocatable.memory);
}

std::string listText(const std::vector<ServerDetails>& servers, const Style& style) {
  Table table({"Name", "Platform", "Rack", "State", "RUs", "Free", "Free memory", "Free disk", "Free extras",
               "Contention", "Reason"});
  for (const ServerDetails& server : servers) {
    table.add({server.facts.name, server.facts.platform, server.facts.rack, stateOf(server),
               std::to_string(server.facts.rus), std::to_string(server.status.free.size()),
               freeBytesText(server, &ByteResources::memory), freeBytesText(server, &ByteResources::disk),
               extrasText(server.facts, server.status), pressureText(server.contention),
               reasonOf(server, style)});
  }
  return table.empty() ? "" : table.text();
}

std::string showText(const ServerDetails& server, const Style& style) {
  std::string text =
      aligned({{"Name", server.facts.name},
               {"Platform", server.facts.platform},
               {"Rack", server.facts.rack},
               {"Attributes", attributesText(server.facts)},
               {"State", stateOf(server)},
               {"Reason", reasonOf(server, style)},
               {"RUs", std::to_string(server.facts.rus) + " on " + counted(server.facts.cores, "core") +
                           (server.facts.emulated ? ", emulated" : "")},
               {"Free", std::to_string(server.status.free.size())},
               {"Lent to late-bound tasks", server.pool.empty() ? "" : "units " + ranges(server.pool)},
               {"Caused by late-bound tasks", pressureText(server.poolCaused)},
               {"Free extras", extrasText(server.facts, server.status)},
               {"Memory", formatSize(server.facts.memoryBytes) + overcommitText(server.facts)},
               {"Free memory", freeBytesText(server, &ByteResources::memory)},
               {"Free disk", freeBytesText(server, &ByteResources::disk)},
               {"Contention", pressureText(server.contention)},
               {"Background", pressureText(server.status.background)},
               {"Refused claims", std::to_string(server.refusedClaims) + " since the master's start"},
               {"Failed launches", std::to_string(server.neverStarted) + " in a row"},
               {"Missing", joined(server.facts.missing)}});
  Table table({"Task", "RUs", "Extras", "Caused", "By its profile", "Feels too much", "Performance"});
  for (const ServerTask& task : server.tasks) {
    std::vector<std::string> over;
    for (size_t resource : task.over) over.emplace_back(kResourceNames[resource]);
    table.add({taskText(task, style) + (task.throttle.isNone() ? "" : ", throttled"), ranges(task.rus),
               extrasText(task.extras), pressureText(task.charged),
               task.charged == task.caused         ? ""
               : pressureText(task.caused).empty() ? "nothing"
                                                   : pressureText(task.caused),
               joined(over), performanceText(task)});
  }
  if (!server.absent.empty()) text += "\nNot measured:\n" + absentText(server.absent);
  text += "\n" + (table.empty() ? std::string("No tasks.\n") : table.text());
  const auto offences = offencesOn(server);
  if (!offences.empty()) text += "\nDisturbed:\n";
  for (const Offence& offence : offences) text += "  " + offenceText(offence, style);
  if (!server.violations.empty()) text += "\nPerforms badly:\n" + textOf(server.violations, style);
  return text;
}

// --- Commands ---

int list(const ServerFlags& flags) {
  Cluster cluster(flags.cluster);
  auto [servers, warning] = fetchServers(cluster);
  sayWarning(warning);
  std::sort(servers.begin(), servers.end(),
            [](const ServerDetails& a, const ServerDetails& b) { return a.facts.name < b.facts.name; });
  if (flags.output.json) {
    Json json = Json::array();
    for (const ServerDetails& server : servers) json.push_back(jsonOf(server));
    printJson(json);
  } else {
    print(listText(servers, styleFor(flags.output.verbose)));
    if (servers.empty()) say("no server has registered yet; start one with `tarcil serve monitor`");
  }
  return kExitDone;
}

int show(const ServerFlags& flags) {
  Cluster cluster(flags.cluster);
  const ServerDetails server = cluster.wait(fetchServer(cluster.client(), flags.name));
  if (flags.output.json) {
    printJson(jsonWithTasks(server));
  } else {
    print(showText(server, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

void addServerList(CLI::App& server) {
  addCommand(server, "list",
             {"server list [OPTIONS]", "List servers with their free units, free extras and contention.",
              "Every server that has registered and was not removed, by name. State: up; down (its monitor "
              "is away); "
              "cordoned (takes no new tasks), draining (its tasks go elsewhere) or drained (none are left), "
              "by order of an operator; quarantined (takes no tasks for a while, since it could not start "
              "some); shielded (auto-cordoned: takes no tasks for a while, since one on it is degraded).",
              "  tarcil server list\n"
              "  tarcil server list --json\n",
              ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<ServerFlags>();
               addOutputFlags(command, flags->output);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return list(*flags); });
             });
}

void addServerShow(CLI::App& server) {
  addCommand(
      server, "show",
      {"server show [OPTIONS] NAME", "Show one server: its tasks, and which interfere with which.",
       "The server's contention, the part of it that no task of the cluster explains (background; null in "
       "JSON where it cannot be measured, and `absent` says why), how many claims on it were refused, its "
       "tasks with their units, their extras and the pressure that they are charged for (as measured, else "
       "as their profiles say; where that differs, both), and which of them suffer "
       "more interference than they tolerate and from whom. Missing: what the machine cannot limit or "
       "measure.",
       "  tarcil server show s1\n"
       "  tarcil server show --json s1\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<ServerFlags>();
        command.add_option("NAME", flags->name, "The server's name.")->required();
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace

void addServer(CLI::App& app) {
  addGroup(app, "server",
           {"server COMMAND ...", "Show the servers of the cluster, and cordon, drain or remove them.",
            "A server is a machine with one monitor. It has resource units (RUs), each a core with its "
            "share of everything else; tasks run in them. Contention is the pressure, 0 to 99 per resource, "
            "of everything on the server on a task that is placed there.",
            "  tarcil server list\n"
            "  tarcil server show s1\n"
            "  tarcil server drain s1 --wait\n",
            ""},
           [](CLI::App& server) {
             addServerSteering(server);
             addServerList(server);
             addServerShow(server);
           });
}

}  // namespace tarcil
