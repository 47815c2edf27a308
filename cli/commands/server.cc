// tarcil server: the machines of the cluster and what goes on on them.
#include <algorithm>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "cli/output/violation.h"
#include "core/base/failure.h"
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

// --- Who disturbs whom ---

struct Offence {
  size_t resource = 0;
  std::vector<const ServerTask*> victims;
  std::vector<const ServerTask*> offenders;  // everybody who causes some of it to a victim, the worst first
};

std::vector<Offence> offencesOn(const ServerDetails& server) {
  std::vector<Offence> offences;
  for (size_t resource = 0; resource < kResources; ++resource) {
    Offence offence{resource, {}, {}};
    for (const ServerTask& task : server.tasks) {
      if (std::find(task.over.begin(), task.over.end(), resource) != task.over.end())
        offence.victims.push_back(&task);
      if (task.charged[resource] > 0) offence.offenders.push_back(&task);
    }
    if (offence.victims.empty()) continue;
    // What a task causes is interference for others only.
    if (offence.victims.size() == 1) std::erase(offence.offenders, offence.victims.front());
    std::stable_sort(offence.offenders.begin(), offence.offenders.end(),
                     [resource](const ServerTask* a, const ServerTask* b) {
                       return a->charged[resource] > b->charged[resource];
                     });
    offences.push_back(std::move(offence));
  }
  return offences;
}

// --- JSON ---

Json jsonOf(const ServerTask& task) {
  Json over = Json::array();
  for (size_t resource : task.over) over.push_back(kResourceNames[resource]);
  return {{"job", toString(task.job)},
          {"number", jsonNumber(task.number)},
          {"task", task.task},
          {"rus", task.rus},
          {"extras", task.extras},
          {"caused", jsonByResource(task.caused)},
          {"charged", jsonByResource(task.charged)},
          {"measured", namesOf(task.measured)},
          {"tolerated", jsonByResource(task.tolerated)},
          {"over", std::move(over)},
          {"throttled", task.throttle.isNone() ? Json()
                                               : Json{{"cpu", task.throttle.cpu},
                                                      {"disk", task.throttle.disk},
                                                      {"network", task.throttle.network},
                                                      {"cache_ways", task.throttle.cacheWays},
                                                      {"memory_bandwidth", task.throttle.memoryBandwidth}}}};
}

Json jsonOf(const Offence& offence) {
  const auto list = [&offence](const std::vector<const ServerTask*>& tasks) {
    Json json = Json::array();
    for (const ServerTask* task : tasks) {
      json.push_back(
          {{"job", toString(task->job)}, {"task", task->task}, {"caused", task->charged[offence.resource]}});
    }
    return json;
  };
  return {{"resource", kResourceNames[offence.resource]},
          {"victims", list(offence.victims)},
          {"offenders", list(offence.offenders)}};
}

// What cannot be measured there is null: absent is not zero.
Json backgroundJson(const ServerDetails& server) {
  Json json = jsonByResource(server.status.background);
  for (const AbsentPressure& absent : server.absent) json[std::string(absent.resourceName())] = nullptr;
  return json;
}

Json absentJson(const std::vector<AbsentPressure>& absent) {
  Json json = Json::object();
  for (const AbsentPressure& one : absent) json[std::string(one.resourceName())] = one.reason;
  return json;
}

Json jsonOf(const ServerDetails& server) {
  const ByteResources allocatable = byteSupplyOf(server.facts).allocatable;
  return {{"name", server.facts.name},
          {"platform", server.facts.platform},
          {"rack", server.facts.rack},
          {"attributes", server.facts.attributes},
          {"state", stateOf(server)},
          {"reason", server.reason.empty() ? Json() : Json(server.reason)},
          {"cordoned", server.status.cordoned},
          {"draining", server.draining},
          {"drain_deadline", jsonTime(server.drainAt)},
          {"quarantined_until", jsonTime(server.asideUntil)},
          {"refused_claims", server.refusedClaims},
          {"failed_launches", server.neverStarted},
          {"rus", server.facts.rus},
          {"free", server.status.free.size()},
          {"extras", jsonOfExtras(server.facts, server.status)},
          {"cores", server.facts.cores},
          {"memory_bytes", server.facts.memoryBytes},
          {"memory_allocatable_bytes", allocatable.memory},
          {"memory_allocated_bytes", server.status.allocated.memory},
          {"disk_allocatable_bytes", allocatable.disk},
          {"disk_allocated_bytes", server.status.allocated.disk},
          {"emulated", server.facts.emulated},
          {"address", server.facts.address},
          {"contention", jsonByResource(server.contention)},
          {"background", backgroundJson(server)},
          {"absent", absentJson(server.absent)},
          {"late_binding", server.pool},
          {"late_binding_caused", jsonByResource(server.poolCaused)},
          {"missing", server.facts.missing}};
}

Json jsonWithTasks(const ServerDetails& server) {
  Json json = jsonOf(server);
  json["tasks"] = Json::array();
  json["offences"] = Json::array();
  json["troubles"] = Json::array();
  for (const TaskViolation& violation : server.violations) json["troubles"].push_back(jsonOf(violation));
  for (const ServerTask& task : server.tasks) json["tasks"].push_back(jsonOf(task));
  for (const Offence& offence : offencesOn(server)) json["offences"].push_back(jsonOf(offence));
  return json;
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
  Table table({"Task", "RUs", "Extras", "Caused", "By its profile", "Feels too much"});
  for (const ServerTask& task : server.tasks) {
    std::vector<std::string> over;
    for (size_t resource : task.over) over.emplace_back(kResourceNames[resource]);
    table.add({taskText(task, style) + (task.throttle.isNone() ? "" : ", throttled"), ranges(task.rus),
               extrasText(task.extras), pressureText(task.charged),
               task.charged == task.caused         ? ""
               : pressureText(task.caused).empty() ? "nothing"
                                                   : pressureText(task.caused),
               joined(over)});
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
