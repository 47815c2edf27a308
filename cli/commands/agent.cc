// tarcil agent: the schedulers of the cluster.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct AgentFlags {
  ContextFlags cluster;
  bool json = false;
};

void add(wire::AgentDetails::Reader agent, Json& json, Table& table) {
  const bool attached = agent.getAttached();
  const double behindMs = static_cast<double>(agent.getBehind()) / 1e3;
  json.push_back({{"name", agent.getName().cStr()},
                  {"address", agent.getAddress().cStr()},
                  {"epoch", agent.getEpoch()},
                  {"attached", attached},
                  {"jobs", agent.getJobs()},
                  {"behind_ms", attached ? Json(behindMs) : Json(nullptr)}});
  table.add({agent.getName().cStr(), agent.getAddress().cStr(), attached ? "yes" : "no",
             std::to_string(agent.getJobs()), attached ? fixed(behindMs, 1) + " ms" : ""});
}

int list(const AgentFlags& flags) {
  Cluster cluster(flags.cluster);
  Json json = Json::array();
  Table table({"Name", "Address", "Attached", "Jobs", "Behind"});
  std::string warning;
  cluster.askByName(
      [](Session& session, const char* after) {
        auto request = session.user.agentsRequest();
        request.setAfter(after);
        return request.send();
      },
      [&](const auto& answer) {
        for (auto agent : answer.getAgents()) add(agent, json, table);
        warning = answer.getWarning().cStr();
      });
  sayWarning(warning);
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "" : table.text());
  }
  return kExitDone;
}

void addAgentList(CLI::App& agent) {
  addCommand(agent, "list",
             {"agent list [OPTIONS]", "List agents and how many jobs each owns.",
              "Every agent that the master knows: its name and address, whether it is attached now, its "
              "unfinished jobs, and how far its copy of the cluster's state is behind: the age of the "
              "oldest change that it has not confirmed.",
              "  tarcil agent list --json\n", ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<AgentFlags>();
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return list(*flags); });
             });
}

}  // namespace

void addAgent(CLI::App& app) {
  addGroup(app, "agent",
           {"agent COMMAND ...", "Show the agents: the schedulers of the cluster.",
            "An agent accepts jobs and places them by its own copy of the cluster's state. There may be any "
            "number; a job may be submitted to any of them.",
            "  tarcil agent list\n", ""},
           addAgentList);
}

}  // namespace tarcil
