// tarcil master: look after the master's store.
#include <sys/random.h>

#include <filesystem>

#include "cli/cluster.h"
#include "cli/command_line.h"
#include "cli/option_table.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/etcd_options.h"
#include "cli/tarcild/masters.h"
#include "core/base/failure.h"
#include "env/clock.h"
#include "master/store/etcd/etcd_reading.h"
#include "master/store/rocks/next_store.h"
#include "master/store/rocks/restore.h"
#include "master/store/rocks/rocks_store.h"
#include "master/store/rocks/store_folder.h"
#include "master/store/store_check.h"

namespace tarcil {
namespace {

constexpr const char* kOfflineExits =
    "  0  done\n"
    "  1  failed; nothing was changed\n"
    "  2  bad arguments, or a folder that cannot be used\n";

// As the master, which has a working folder of its own, finds it too.
std::string absolute(const std::string& folder) {
  return std::filesystem::absolute(folder).lexically_normal();
}

// --- backup -----------------------------------------------------------------------------------------------

struct BackupFlags {
  ContextFlags cluster;
  bool json = false;
  std::string folder;
};

int backUp(const BackupFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::string folder = absolute(flags.folder);
  cluster.ask([&folder](Session& session) {
    auto request = session.user.backupRequest();
    request.setFolder(folder.c_str());
    return request.send();
  });
  if (flags.json) {
    printJson({{"backup", folder}});
  } else {
    print(aligned({{"Backup", folder}}));
  }
  return kExitDone;
}

void addBackup(CLI::App& master) {
  addCommand(
      master, "backup",
      {"master backup [OPTIONS] DIR", "Copy the store while the cluster runs.",
       "Writes a copy of the master's store to DIR, a folder on the master's machine that is not there or "
       "empty. The copy holds everything that was answered before, and is a store itself. It is complete "
       "once it has its name: a crash before that leaves at most DIR.part. Needs a token with the role "
       "operate.\n\n"
       "Tokens are not in the store: keep a copy of their file too.",
       "  tarcil master backup /backups/monday\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<BackupFlags>();
        command.add_option("DIR", flags->folder, "Folder to write, on the master's machine.")->required();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return backUp(*flags); });
      });
}

// --- restore ----------------------------------------------------------------------------------------------

struct RestoreFlags {
  bool json = false;
  bool atNextStart = false;
  std::string backup, store;
};

Rng randomRng() {
  uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != sizeof seed)
    throw Failure(kExitFailed, "no random numbers to be had");
  return Rng(seed);
}

std::string whatIsNext(const std::string& store) {
  const auto master = userOfStore(store);
  return "The master takes it at its next start, and keeps its store as " + store + ".before-TIME. " +
         (master ? "Now `kill " + std::to_string(*master) +
                       "` ends the master, which `tarcil up` or systemd starts again; tasks run on.\n"
                 : "No master uses that store now: start one.\n");
}

// Of a store that a master uses, beside which no other one waits yet.
void requirePlaceOf(const std::string& store) {
  const auto isThere = hasStore(store);
  if (!isThere || !*isThere) {
    throw badInput("--store: " + store +
                   " holds no store; name the one that the master uses, such as DATA/master/store");
  }
  if (std::filesystem::exists(nextStore(store))) {
    throw badInput("--store: a restored store waits there for the master's next start; remove " +
                   nextStore(store) + " to have another one wait");
  }
}

int restore(const RestoreFlags& flags) {
  Rng rng = randomRng();
  const std::string present = absolute(flags.store);
  const std::string store = flags.atNextStart ? nextStore(present) : present;
  if (flags.atNextStart) requirePlaceOf(present);
  const auto restored = restoreStore(absolute(flags.backup), store, systemClock().now().wall, rng);
  if (!restored) {
    const bool isInput = restored.error().code == ErrorCode::kInvalid;
    throw Failure(isInput ? kExitBadInput : kExitFailed, restored.error().message);
  }
  if (flags.json) {
    printJson({{"store", store}, {"cluster", restored->cluster}, {"epoch", restored->epoch}});
  } else {
    print(aligned(
        {{"Store", store}, {"Cluster", restored->cluster}, {"Epoch", std::to_string(restored->epoch)}}));
    if (flags.atNextStart) print("\n" + whatIsNext(present));
  }
  return kExitDone;
}

void addRestore(CLI::App& master) {
  addCommand(
      master, "restore",
      {"master restore [OPTIONS] --store DIR BACKUP", "Make a store of a backup.",
       "Copies a backup to DIR, a folder that is not there or empty, for a master to start on: stop the old "
       "master, move its store away, restore, start. The backup stays as it is. With --at-next-start the "
       "master "
       "of the store in DIR puts the copy in its place when it starts the next time, so that under a "
       "supervisor "
       "(`tarcil up`) nothing else has to be stopped; what it answers until then is in the store that it "
       "leaves "
       "behind.\n\n"
       "The copy begins a new epoch of the cluster. Agents and monitors learn of it when they attach: jobs "
       "submitted after the backup are gone, and their tasks are stopped; tasks that ended after it count "
       "as lost, and are started again where restart.on_lost allows.",
       "  tarcil master restore /backups/monday --store /var/lib/tarcil/master/store\n"
       "  tarcil master restore /backups/monday --store /var/lib/tarcil/master/store --at-next-start\n",
       kOfflineExits},
      [](CLI::App& command) {
        auto flags = std::make_shared<RestoreFlags>();
        command.add_option("BACKUP", flags->backup, "Folder that `tarcil master backup` wrote.")->required();
        command.add_option("--store", flags->store, "Folder of the store to be made.")
            ->required()
            ->type_name("DIR");
        command.add_flag(
            "--at-next-start", flags->atNextStart,
            "DIR has a store: its master takes the copy in its place when it starts the next time.");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return restore(*flags); });
      });
}

// --- check ------------------------------------------------------------------------------------------------

struct CheckFlags {
  explicit CheckFlags(CLI::App& command) : table(command) {}

  OptionTable table;
  bool json = false;
  std::string folder;
  EtcdFlags etcd;
};

StoreReading readStore(const CheckFlags& flags) {
  if (!flags.etcd.isGiven()) return requireInput(readWholeStore(flags.folder));
  const auto client = openEtcd(flags.etcd);
  return requireInput(readWholeEtcdStore(*client, flags.etcd.store.prefix, systemClock()));
}

int check(CheckFlags& flags) {
  flags.table.read();
  if (flags.folder.empty() != flags.etcd.isGiven()) {
    throw badInput(flags.folder.empty() ? "DIR is missing; name the folder of a store, or give --etcd"
                                        : "DIR: the store is in a folder or in etcd; give DIR or --etcd");
  }
  const StoreReading reading = readStore(flags);
  std::vector<StoreProblem> problems = reading.unreadable;
  // What could not be read is missing everywhere: that says nothing new.
  if (problems.empty()) problems = checkStore(reading.store);
  if (flags.json) {
    Json list = Json::array();
    for (const StoreProblem& problem : problems)
      list.push_back({{"key", problem.key}, {"problem", problem.what}});
    printJson(list);
  } else {
    for (const StoreProblem& problem : problems)
      print((problem.key.empty() ? flags.folder + flags.etcd.urls : problem.key) + ": " + problem.what +
            "\n");
    if (problems.empty()) {
      const StoreContents& contents = reading.store.contents;
      say("nothing is wrong: " + std::to_string(contents.servers.size()) + " servers, " +
          std::to_string(contents.jobs.size()) + " jobs, " + std::to_string(contents.tasks.size()) +
          " tasks that were placed or have ended");
    }
  }
  return problems.empty() ? kExitDone : kExitFailed;
}

void addCheck(CLI::App& master) {
  addCommand(
      master, "check",
      {"master check [OPTIONS] [DIR]", "Verify a store: in a folder one that no master uses, in etcd any.",
       "Reads the store or backup in DIR, writes nothing, and checks every record against the others: each "
       "unit and allocation has one owner, tasks belong to jobs and agree with their progress and "
       "decisions, numbers are below those still to be given, and so on. Each problem is one line: the "
       "record's key and what is wrong with it. Where records cannot be read, only those are named.",
       "  tarcil master check /backups/monday\n"
       "  tarcil master check --etcd http://10.0.0.1:2379\n",
       "  0  no problem was found\n"
       "  1  problems were found; they are on stdout\n"
       "  2  bad arguments, no store there, or a master uses it\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<CheckFlags>(command);
        command.add_option("DIR", flags->folder, "Folder of a store or of a backup.");
        addEtcdOptions(flags->table, flags->etcd);
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return check(*flags); });
      });
}

// --- import, export ---------------------------------------------------------------------------------------

struct MoveFlags {
  explicit MoveFlags(CLI::App& command) : table(command) {}

  OptionTable table;
  std::string folder;
  EtcdFlags etcd;
};

Failure failureOf(const Error& error) {
  const bool isInput = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kDenied;
  return Failure(isInput ? kExitBadInput : kExitFailed, error.message);
}

int import(MoveFlags& flags) {
  flags.table.read();
  const auto client = openEtcd(flags.etcd);
  Rng rng = randomRng();
  flags.etcd.store.leadership = {.who = whoLeads("(imports a store)"), .lease = std::chrono::seconds(10)};
  const Status imported = importStore(absolute(flags.folder), *client, flags.etcd.store, systemClock(), rng);
  if (!imported) throw failureOf(imported.error());
  print(aligned({{"Store", "in etcd, under " + flags.etcd.store.prefix}}));
  say("start masters with --etcd; none must be started on " + flags.folder + " any more");
  return kExitDone;
}

// Longer than a master's lease, by default, after which a dead one does not lead any more.
constexpr Duration kLeaseIsOver = std::chrono::seconds(5);

int exportStore(MoveFlags& flags) {
  flags.table.read();
  const auto client = openEtcd(flags.etcd);
  Rng rng = randomRng();
  flags.etcd.store.leadership = {.who = whoLeads("(exports the store)"), .lease = std::chrono::seconds(10)};
  const MonotonicTime until = systemClock().now().steady + kLeaseIsOver;
  const auto store = EtcdStore::open(*client, flags.etcd.store, systemClock(), rng,
                                     {.goesOn = [until]() { return systemClock().now().steady < until; }});
  if (!store && store.error().code == ErrorCode::kUnavailable) {
    throw badInput("--etcd: a master leads under " + flags.etcd.store.prefix +
                   "; stop all masters first, or copy the store with `tarcil master backup`");
  }
  if (!store) throw failureOf(store.error());
  const std::string folder = absolute(flags.folder);
  if (const Status copied = (*store)->backup(folder); !copied) throw failureOf(copied.error());
  print(aligned({{"Store", folder}}));
  return kExitDone;
}

void addImport(CLI::App& master) {
  addCommand(
      master, "import",
      {"master import [OPTIONS] --etcd URL DIR", "Put a store, or a backup, into etcd.",
       "Reads the store in DIR, which no master uses, and writes it into etcd, where nothing is under the "
       "prefix yet. The folder "
       "stays as it is; whoever starts a master on it again has two clusters of one name. What an "
       "interrupted import leaves no "
       "master takes for a store.",
       "  tarcil master import --etcd http://10.0.0.1:2379 /var/lib/tarcil/master/store\n", kOfflineExits},
      [](CLI::App& command) {
        auto flags = std::make_shared<MoveFlags>(command);
        command.add_option("DIR", flags->folder, "Folder of a store or of a backup.")->required();
        addEtcdOptions(flags->table, flags->etcd).required();
        onRun(command, [flags]() { return import(*flags); });
      });
}

void addExport(CLI::App& master) {
  addCommand(
      master, "export",
      {"master export [OPTIONS] --etcd URL DIR", "Copy the store in etcd to a folder, while no master leads.",
       "Makes a store in DIR, a folder that is not there or empty, of the one in etcd, for a master to go on "
       "with. Waits a few "
       "seconds for the lease of one that was killed. What is in etcd stays as it is.",
       "  tarcil master export --etcd http://10.0.0.1:2379 /var/lib/tarcil/master/store\n", kOfflineExits},
      [](CLI::App& command) {
        auto flags = std::make_shared<MoveFlags>(command);
        command.add_option("DIR", flags->folder, "Folder of the store to be made.")->required();
        addEtcdOptions(flags->table, flags->etcd).required();
        onRun(command, [flags]() { return exportStore(*flags); });
      });
}

}  // namespace

void addMaster(CLI::App& app) {
  addGroup(app, "master",
           {"master COMMAND ...", summaryOf("master"),
            "The master keeps the cluster's state in the store: a folder, or etcd, on which several masters "
            "may be, "
            "one of which leads. `tarcil serve master` runs a master.",
            "  tarcil master backup /backups/monday\n"
            "  tarcil master check /backups/monday\n",
            ""},
           [](CLI::App& master) {
             addMasterList(master);
             addMasterStepDown(master);
             addBackup(master);
             addRestore(master);
             addCheck(master);
             addImport(master);
             addExport(master);
           });
}

}  // namespace tarcil
