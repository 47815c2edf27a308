// tarcil usage: who has used how much of the cluster.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/usages.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct UsageFlags {
  ContextFlags cluster;
  bool json = false;
};

std::string textOf(const std::vector<Usage>& usages) {
  Table table(
      {"User", "Shares", "RU hours", "RU seconds", "Attempts", "Done", "Failed", "Cancelled", "Lost"});
  for (const Usage& usage : usages) {
    table.add({usage.user, std::to_string(usage.shares), fixed(ruSeconds(usage) / 3600, 2),
               fixed(ruSeconds(usage), 1), std::to_string(usage.attempts), std::to_string(usage.done),
               std::to_string(usage.failed), std::to_string(usage.cancelled), std::to_string(usage.lost)});
  }
  return table.empty() ? "" : table.text();
}

int show(const UsageFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::vector<Usage> usages = fetchUsages(cluster);
  if (flags.json) {
    printJson(jsonOf(usages));
  } else {
    print(textOf(usages));
    if (usages.empty()) say("no task has ended yet");
  }
  return kExitDone;
}

}  // namespace

void addUsage(CLI::App& app) {
  addCommand(
      app, "usage",
      {"usage [OPTIONS]", "Show how much of the cluster users have used.",
       "Your own usage since the cluster was made; as an operator, everybody's. RU seconds are resource "
       "units times how long tasks held them, from the moment a task got its slot until its end, whatever "
       "its outcome; attempts are starts of tasks, restarts included. Jobs are counted by how they ended. "
       "Unfinished tasks and jobs are not counted yet. Shares say how much a user gets beside others whose "
       "jobs wait: see `tarcil user set --help`.",
       "  tarcil usage\n"
       "  tarcil usage --json\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<UsageFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
