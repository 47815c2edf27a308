// tarcil server cordon, uncordon, drain, remove: what operators do to servers.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/steering.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

struct SteerFlags {
  ContextFlags cluster;
  bool json = false;
  std::vector<std::string> names;
  std::string deadline;
  bool wait = false;
};

void printChanged(const SteerFlags& flags, const std::string& done, const std::string& state) {
  if (!flags.json) return print(aligned({{done, joined(flags.names)}}));
  printJson(jsonOfSteered(flags.names, state));
}

int cordon(const SteerFlags& flags) {
  Cluster cluster(flags.cluster);
  steerServers(cluster, flags.names, wire::ServerChange::CORDON, {});
  printChanged(flags, "Cordoned", "cordoned");
  return kExitDone;
}

int uncordon(const SteerFlags& flags) {
  Cluster cluster(flags.cluster);
  steerServers(cluster, flags.names, wire::ServerChange::UNCORDON, {});
  printChanged(flags, "Uncordoned", "uncordoned");
  return kExitDone;
}

// Says each change until the server has no task. Failure where somebody ends the drain.
void waitUntilEmpty(Cluster& cluster, const std::string& name) {
  uint32_t seen = UINT32_MAX;  // no server has so many
  while (true) {
    auto answer = cluster.ask([&name, seen](Session& session) {
      auto request = session.user.watchDrainRequest();
      request.setName(name.c_str());
      request.setSeen(seen);
      return request.send();
    });
    seen = answer.getTasks();
    if (seen == 0) return say(name + ": empty");
    if (!answer.getDraining()) {
      throw Failure(kExitFailed,
                    name + " is not being drained any more, with " + counted(seen, "task") + " left");
    }
    say(name + ": " + counted(seen, "task") + " left");
  }
}

int drain(const SteerFlags& flags) {
  const auto deadline = parseDeadline(flags.deadline);
  if (!deadline) throw badInput("--deadline: " + deadline.error().message);
  Cluster cluster(flags.cluster);
  steerServers(cluster, flags.names, wire::ServerChange::DRAIN, *deadline);
  if (flags.wait) {
    for (const std::string& name : flags.names) waitUntilEmpty(cluster, name);
  }
  printChanged(flags, flags.wait ? "Drained" : "Draining", flags.wait ? "drained" : "draining");
  return kExitDone;
}

int remove(const SteerFlags& flags) {
  Cluster cluster(flags.cluster);
  steerServers(cluster, flags.names, wire::ServerChange::REMOVE, {});
  printChanged(flags, "Removed", "removed");
  return kExitDone;
}

using SteerServers = int (*)(const SteerFlags& flags);

void addSteering(CLI::App& server, const char* name, const Help& help, SteerServers steer) {
  addCommand(server, name, help, [steer](CLI::App& command) {
    auto flags = std::make_shared<SteerFlags>();
    command.add_option("NAME", flags->names, "The servers' names.")->required();
    addJsonFlag(command, flags->json);
    addClusterFlags(command, flags->cluster);
    if (steer == drain) {
      command
          .add_option("--deadline", flags->deadline,
                      "How long running tasks get to end by themselves before they are ended. Default: none")
          ->type_name("DURATION");
      command.add_flag("--wait", flags->wait,
                       "Wait until the servers have no tasks, and print how many are left.");
    }
    onRun(command, [flags, steer]() { return steer(*flags); });
  });
}

}  // namespace

void addServerSteering(CLI::App& server) {
  addSteering(server, "cordon",
              {"server cordon [OPTIONS] NAME...", "Keep new tasks away from servers.",
               "The servers get no new tasks until they are uncordoned, also across restarts; their running "
               "tasks continue. All of the servers are cordoned, or none if one of them does not exist. "
               "Needs a token with the role operate.",
               "  tarcil server cordon s1 s2\n", ""},
              cordon);
  addSteering(server, "uncordon",
              {"server uncordon [OPTIONS] NAME...", "Let servers have new tasks again.",
               "Undoes a cordon, ends a drain and ends a quarantine. Tasks that the drain has already "
               "stopped still go elsewhere. Needs a token with the role operate.",
               "  tarcil server uncordon s1\n", ""},
              uncordon);
  addSteering(server, "drain",
              {"server drain [OPTIONS] NAME...", "Send the tasks of servers elsewhere.",
               "Cordons the servers and ends their tasks, each with its job's grace, so that they are "
               "placed elsewhere. That uses up none of their restarts. The command may be repeated: the "
               "last deadline counts. Needs a token with the role operate.",
               "  tarcil server drain s1 --wait\n"
               "  tarcil server drain s1 s2 --deadline 1h\n",
               ""},
              drain);
  addSteering(server, "remove",
              {"server remove [OPTIONS] NAME...", "Forget servers that do not come back.",
               "Jobs do not count on them any more: one that only they could run is refused, and lists "
               "leave them out. They must be down and have no tasks: stop the monitor, and wait until the "
               "tasks count as lost. A server whose monitor attaches again is back. The master removes by "
               "itself what was down for a day (--remove-down-servers-after). Needs a token with the role "
               "operate.",
               "  tarcil server drain s1 --wait\n"
               "  tarcil server remove s1\n",
               ""},
              remove);
}

}  // namespace tarcil
