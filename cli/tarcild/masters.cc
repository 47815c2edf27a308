// tarcil master list, tarcil master step-down: which of several masters leads.
#include "cli/tarcild/masters.h"

#include <optional>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

struct ListedMaster {
  std::string name{}, address{};
  uint64_t pid = 0;  // 0: it does not answer
  bool leads = false, hasState = false;
  uint64_t term = 0;
  WallTime since{};
  Duration behind{};

  bool answers() const { return pid != 0; }
};

std::vector<ListedMaster> mastersOf(Cluster& cluster) {
  const auto answer = cluster.ask([](Session& session) { return session.agent.mastersRequest().send(); });
  std::vector<ListedMaster> masters;
  for (auto from : answer.getMasters()) {
    masters.push_back({.name = convert::text(from.getName()),
                       .address = convert::text(from.getAddress()),
                       .pid = from.getPid(),
                       .leads = from.getLeads(),
                       .hasState = from.getHasState(),
                       .term = from.getTerm(),
                       .since = WallTime(Duration(from.getSince())),
                       .behind = Duration(static_cast<int64_t>(from.getBehind()))});
  }
  return masters;
}

// --- list -------------------------------------------------------------------------------------------------

struct ListFlags {
  ContextFlags cluster;
  bool json = false;
};

std::string stateOf(const ListedMaster& master) {
  if (!master.answers()) return "out of reach";
  if (master.leads) return "leads";
  return master.hasState ? "stands by" : "stands by, without the state";
}

int list(const ListFlags& flags) {
  Cluster cluster(flags.cluster);
  Json json = Json::array();
  Table table({"Address", "State", "Term", "Since", "Behind", "Machine", "Process"});
  for (const ListedMaster& master : mastersOf(cluster)) {
    const bool isFollowing = master.answers() && !master.leads && master.hasState;
    const double behindMs = static_cast<double>(master.behind.count()) / 1e3;
    json.push_back({{"name", master.name},
                    {"address", master.address},
                    {"pid", master.answers() ? Json(master.pid) : Json(nullptr)},
                    {"leader", master.leads},
                    {"term", master.term},
                    {"since", master.answers() ? Json(formatTime(master.since)) : Json(nullptr)},
                    {"behind_ms", master.leads  ? Json(0.0)
                                  : isFollowing ? Json(behindMs)
                                                : Json(nullptr)}});
    table.add({master.address, stateOf(master), master.term > 0 ? std::to_string(master.term) : "",
               master.answers() ? formatTime(master.since) : "",
               isFollowing ? fixed(behindMs, 0) + " ms" : "", master.name,
               master.answers() ? std::to_string(master.pid) : ""});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.text());
  }
  return kExitDone;
}

// --- step-down --------------------------------------------------------------------------------------------

struct StepDownFlags {
  ContextFlags cluster;
  bool force = false;
};

int stepDown(const StepDownFlags& flags) {
  Cluster cluster(flags.cluster);
  std::optional<ListedMaster> leader;
  bool hasStandby = false;
  for (const ListedMaster& master : mastersOf(cluster)) {
    if (master.leads) leader = master;
    hasStandby = hasStandby || (master.answers() && !master.leads);
  }
  if (!leader) throw Failure(kExitNoCluster, "no master says that it leads; look again: tarcil master list");
  if (!hasStandby && leader->term > 0 && !flags.force) {
    throw Failure(kExitFailed,
                  "no other master stands by, so that nobody would lead until this one is there again; "
                  "start another one, or give --force");
  }
  cluster.ask([&leader](Session& session) {
    auto request = session.user.stepDownRequest();
    request.setTerm(leader->term);
    return request.send();
  });
  say("the master at " + leader->address + " has stepped down");
  return kExitDone;
}

}  // namespace

void addMasterList(CLI::App& master) {
  addCommand(
      master, "list",
      {"master list [OPTIONS]", "List the masters, and say which one leads.",
       "Every master that the agent was told of: whether it leads, its term, since when it leads or stands "
       "by, and how old what a standby holds of the state may be. Of one that does not answer within a "
       "second the address alone.",
       "  tarcil master list --json\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<ListFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return list(*flags); });
      });
}

void addMasterStepDown(CLI::App& master) {
  addCommand(
      master, "step-down",
      {"master step-down [OPTIONS]", "Have another master lead, before work at the machine of this one.",
       "What has been answered is stored, the master that leads gives its lease back and ends, and another "
       "one leads within a fraction of a second; whoever supervises the first starts it again, and it stands "
       "by. Tasks run on, and commands wait that long. Needs a token with the role operate.",
       "  tarcil master step-down\n",
       "  0  another master may lead\n"
       "  1  no other one stands by, or there is one master only\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<StepDownFlags>();
        command.add_flag("--force", flags->force, "Also where no other master stands by.");
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return stepDown(*flags); });
      });
}

}  // namespace tarcil
