// tarcil serve agent
#include <CLI/CLI.hpp>

#include "cli/tarcild/serve.h"
#include "core/base/failure.h"
#include "deploy/roles/roles.h"

namespace tarcil {
namespace {

struct Agent {
  explicit Agent(CLI::App& command) : table(command) {}

  OptionTable table;
  AgentFlags flags;
};

int run(Agent& agent) {
  agent.table.read();
  // Where nothing says which folder that is, there is no identity in it.
  if (auto data = dataFolder(agent.flags.data)) agent.flags.data = *data;
  if (!agent.flags.name.empty()) requireName("--name", agent.flags.name);
  for (const std::string& problem : late::problems(agent.flags.lateBinding.scheduler)) {
    throw badInput("--probe-ratio: " + problem);
  }
  return serveAgent(agent.flags);
}

void addOptions(CLI::App& command, Agent& agent) {
  OptionTable& table = agent.table;
  AgentFlags& flags = agent.flags;
  table.text("--data", flags.data, "DIR",
             "Folder with the identity that `tarcil join` made: it says who this is, and where the master "
             "is. Default: as for other commands.");
  table.text("--name", flags.name, "NAME", "Name of this agent in the cluster. Default: the identity's.");
  table.texts("--master", flags.masters, "ADDR[,ADDR]",
              "Addresses of all masters, of which the one that leads is found. May be repeated. Default: the "
              "identity's.");
  table.text("--token-file", flags.tokenFile, "FILE",
             "File with a token of role agent, where there is no identity.");
  table.text("--listen", flags.listen, "ADDR", "host:port or unix:PATH for users.").required();
  table.text(
      "--advertise", flags.advertise, "ADDR",
      "What others are told to dial: where --listen is 0.0.0.0:PORT, or the machine has another address for "
      "them. Port 0: that of --listen. Default: as --listen.");
  table.flag(
      "--vouch", flags.vouch,
      "Let users of this machine in without a token, by their user id, where the master's --vouch allows "
      "it: everybody may connect to the socket, which --listen has to be. Never lets root in.");
  table.duration("--wait-bound", flags.options.waitBound,
                 "How long a job waits for an acceptable slot before it takes the best one there is.");
  late::SchedulerOptions& late = flags.lateBinding.scheduler;
  command
      .add_option("--probe-ratio", late.probeRatio,
                  "Reservations for each late-bound task whose job does not set a number; fractions are "
                  "allowed. Default: 2")
      ->type_name("D");
  table.flag("--adapt-probe-ratio", late.adaptRatio, "Adapt the probe ratio to the load, between 1.1 and 3.");
  addRoleOptions(table, flags.role);
}

}  // namespace

void addServeAgent(CLI::App& serve) {
  addCommand(serve, "agent",
             {"serve agent [OPTIONS] --data DIR --listen ADDR", "Schedule jobs: any number per cluster.",
              "Takes jobs from users, samples and judges slots on its own copy of the state, commits to the "
              "master, and launches on monitors. Users may connect to any agent. It stores nothing on disk.",
              "  tarcil serve agent --data /var/lib/tarcil-agent --listen 10.0.0.1:7101\n"
              "  tarcil serve agent --name a1 --master 10.0.0.1:7001 \\\n"
              "      --token-file /etc/tarcil/agent.token --listen 10.0.0.1:7101\n",
              kRoleExits},
             [](CLI::App& command) {
               auto agent = std::make_shared<Agent>(command);
               addOptions(command, *agent);
               onRun(command, [agent]() { return run(*agent); });
             });
}

}  // namespace tarcil
