// tarcil serve: run one role of a cluster in the foreground.
#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/pressure_period.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/model/job.h"
#include "core/state/server.h"
#include "deploy/roles/roles.h"
#include "formats/extras_field.h"
#include "formats/text.h"
#include "formats/units.h"
#include "latebinding/suitability.h"

namespace tarcil {
namespace {

constexpr const char* kExits =
    "  0  stopped by SIGTERM or SIGINT\n"
    "  1  could not go on (for instance a failed disk write)\n"
    "  2  bad arguments, or a file or folder that cannot be used\n"
    "  3  the master refuses the token\n";

// Ours, for whoever supervises the process.
void addRoleFlags(CLI::App& command, RoleFlags& flags) {
  command.add_option("--ready-fd", flags.readyFd, "Write \"ready\" to this descriptor once the role serves.")
      ->check(wholeNumber(0, 1'000'000))
      ->type_name("FD");
  command.add_flag("--supervised", flags.supervised, "Stop when the parent process ends.");
  command
      .add_option(
          "--metrics", flags.metrics,
          "host:port or unix:PATH where metrics are served over HTTP, to whoever reaches it. Default: "
          "nowhere")
      ->type_name("ADDR");
}

// A name that others in the cluster will read.
void requireName(const std::string& flag, const std::string& name) {
  if (const Status good = checkName(flag, name); !good) throw badInput(good.error().message);
}

// Durations are read when the command runs, so that a wrong one is reported like other bad input.
Duration durationOf(const std::string& flag, const std::string& value) {
  const auto duration = parseDuration(value);
  if (!duration) throw badInput(flag + ": " + duration.error().message);
  return *duration;
}

constexpr const char* kMasterExits =
    "  0  stopped by SIGTERM or SIGINT\n"
    "  1  could not go on\n"
    "  2  bad arguments, or a file or folder that cannot be used\n"
    "  4  a write to the store failed, or may have: nothing answered is lost\n";

struct MasterArguments {
  MasterFlags flags;
  std::string folder, agentGrace = "3s", serverGrace = "60s", keepFinishedFor = "7d", diskReserve = "256MiB",
                      ageing = "10m", roomPatience = "30s", adjustingPause = "10s", adjustingCalm = "1m";
};

int runMaster(MasterArguments& args) {
  MasterFlags& flags = args.flags;
  const std::string data = requireInput(dataFolder(args.folder));
  if (flags.listen.empty()) flags.listen = "unix:" + data + "/run/master.sock";
  if (flags.store.empty()) flags.store = data + "/master/store";
  if (flags.tokens.empty()) flags.tokens = data + "/master/tokens";
  flags.options.agentGrace = durationOf("--agent-grace", args.agentGrace);
  flags.options.serverGrace = durationOf("--server-grace", args.serverGrace);
  flags.options.keepFinishedFor = durationOf("--keep-finished-for", args.keepFinishedFor);
  flags.options.ageing = durationOf("--ageing", args.ageing);
  flags.options.roomPatience = durationOf("--room-patience", args.roomPatience);
  flags.options.adjustingPause = durationOf("--adjusting-pause", args.adjustingPause);
  flags.options.adjustingCalm = durationOf("--adjusting-calm", args.adjustingCalm);
  const auto reserve = parseSize(args.diskReserve);
  if (!reserve) throw badInput("--disk-reserve: " + reserve.error().message);
  flags.options.diskReserve = *reserve;
  return serveMaster(flags);
}

void addMasterRole(CLI::App& serve) {
  CLI::App& command = addCommand(
      serve, "master",
      {"serve master [OPTIONS]", "Keep the cluster's state: one per cluster.",
       "Keeps the one resilient copy of the shared state in RocksDB, takes the commits of agents, and "
       "answers only "
       "what is on disk. It may be killed at any moment; started again on the same folder, it goes on.\n\n"
       "Tokens are read at the start, one a line: TOKEN USER ROLE [RUN-AS,...], where ROLE is submit, "
       "operate, agent "
       "or monitor and RUN-AS the system users that jobs may run as, the default first. The file must be "
       "readable by "
       "its owner only.",
       "  tarcil serve master --data /var/lib/tarcil --listen 10.0.0.1:7001\n", kMasterExits});
  auto args = std::make_shared<MasterArguments>();
  command.add_option("--data", args->folder, "Folder for all of the below. Default: as for other commands.")
      ->type_name("DIR");
  command
      .add_option("--listen", args->flags.listen,
                  "host:port or unix:PATH. Default: unix:DATA/run/master.sock")
      ->type_name("ADDR");
  command.add_option("--store", args->flags.store, "Folder of the store. Default: DATA/master/store")
      ->type_name("DIR");
  command.add_option("--tokens", args->flags.tokens, "File of tokens. Default: DATA/master/tokens")
      ->type_name("FILE");
  command
      .add_option("--agent-grace", args->agentGrace,
                  "How long an agent may be away before its jobs go to another. Default: 3s")
      ->type_name("DURATION");
  command
      .add_option("--server-grace", args->serverGrace,
                  "How long a monitor may be away before its tasks are lost. Default: 60s")
      ->type_name("DURATION");
  command
      .add_option("--keep-finished", args->flags.options.keepFinishedJobs,
                  "Finished jobs that are kept; the oldest go first. Default: 10000")
      ->check(wholeNumber(1, 10'000'000))
      ->type_name("N");
  command
      .add_option("--keep-finished-for", args->keepFinishedFor,
                  "How long finished jobs are kept at most. Default: 7d")
      ->type_name("DURATION");
  command
      .add_option("--max-jobs-of-user", args->flags.options.maxUnfinishedOfUser,
                  "Unfinished jobs that one user may have; beyond, submissions are refused. Default: 20000")
      ->check(wholeNumber(1, 10'000'000))
      ->type_name("N");
  command
      .add_option("--max-jobs", args->flags.options.maxUnfinished,
                  "Unfinished jobs of everybody; beyond, submissions are refused. Default: 100000")
      ->check(wholeNumber(1, 10'000'000))
      ->type_name("N");
  command
      .add_option("--max-tasks-of-job", args->flags.options.maxTasksOfJob,
                  "Tasks that one job may have; jobs with more are refused. Default: 100000")
      ->check(wholeNumber(1, kMaxTasks))
      ->type_name("N");
  command
      .add_option("--ageing", args->ageing,
                  "A point of priority more for each so long that a user's jobs of one priority get nothing; "
                  "0s: never. Default: 10m")
      ->type_name("DURATION");
  command
      .add_option("--room-patience", args->roomPatience,
                  "How long a gang, or a job whose tasks take several units, waits before servers are kept "
                  "for it; its "
                  "max_wait comes before. Default: 30s")
      ->type_name("DURATION");
  command
      .add_option("--adjusting-pause", args->adjustingPause,
                  "Between two steps for a task that performs below what its job expects. Default: 10s")
      ->type_name("DURATION");
  command
      .add_option("--adjusting-calm", args->adjustingCalm,
                  "So long such a task must do well again before what was done is undone. Default: 1m")
      ->type_name("DURATION");
  command
      .add_option("--most-shielded", args->flags.options.mostShielded,
                  "Servers, in per cent and at least one, that may be kept from new tasks at once because a "
                  "task on them performs badly; 0: none. Default: 10")
      ->check(wholeNumber(0, 100))
      ->type_name("PERCENT");
  command
      .add_option(
          "--quarantine-after", args->flags.options.quarantineAfter,
          "Tasks in a row that a server fails to start, within 10 minutes, before it is set aside for a "
          "minute, then for longer; 0: never. Default: 5")
      ->check(wholeNumber(0, 1'000'000))
      ->type_name("N");
  command
      .add_option("--disk-reserve", args->diskReserve,
                  "Room to be left on the store's disk: with less, new jobs are refused. Default: 256MiB")
      ->type_name("SIZE");
  addRoleFlags(command, args->flags.role);
  onRun(command, [args]() { return runMaster(*args); });
}

struct AgentArguments {
  AgentFlags flags;
  std::string waitBound = "30s";
};

void addAgentRole(CLI::App& serve) {
  CLI::App& command = addCommand(
      serve, "agent",
      {"serve agent [OPTIONS] --name NAME --master ADDR --token-file FILE --listen ADDR",
       "Schedule jobs: any number per cluster.",
       "Takes jobs from users, samples and judges slots on its own copy of the state, commits to the master, "
       "and launches on monitors. Users may talk to any agent. It keeps nothing on disk.",
       "  tarcil serve agent --name a1 --master 10.0.0.1:7001 \\\n"
       "      --token-file /etc/tarcil/agent.token --listen 10.0.0.1:7101\n",
       kExits});
  auto args = std::make_shared<AgentArguments>();
  command.add_option("--name", args->flags.name, "Name of this agent in the cluster.")
      ->required()
      ->type_name("NAME");
  command.add_option("--master", args->flags.master, "Address of the master.")->required()->type_name("ADDR");
  command.add_option("--token-file", args->flags.tokenFile, "File with a token of role agent.")
      ->required()
      ->type_name("FILE");
  command.add_option("--listen", args->flags.listen, "host:port or unix:PATH for users.")
      ->required()
      ->type_name("ADDR");
  command
      .add_option("--wait-bound", args->waitBound,
                  "A job that found no acceptable place for this long takes the best there is. Default: 30s")
      ->type_name("DURATION");
  late::SchedulerOptions& late = args->flags.lateBinding.scheduler;
  command
      .add_option("--probe-ratio", late.probeRatio,
                  "Reservations for each late-bound task, where its job does not say; fractions are allowed. "
                  "Default: 2")
      ->type_name("D");
  command.add_flag("--adapt-probe-ratio", late.adaptRatio,
                   "Let it follow the load, between 1.1 and 3, instead.");
  addRoleFlags(command, args->flags.role);
  onRun(command, [args]() {
    requireName("--name", args->flags.name);
    args->flags.options.waitBound = durationOf("--wait-bound", args->waitBound);
    for (const std::string& problem : late::problems(args->flags.lateBinding.scheduler)) {
      throw badInput("--probe-ratio: " + problem);
    }
    return serveAgent(args->flags);
  });
}

struct MonitorArguments {
  MonitorArguments() { flags.lateUnits.most = 0; }

  MonitorFlags flags;
  std::string memory, pressurePeriod = "1s", performancePeriod = "1s", pressureSmoothing = "5s",
                      networkBandwidth, memoryBandwidth;
  std::string keepLogs = "7d", keepLogsSize = "4GiB";
  std::vector<std::string> attributes, extras;
};

void readAttribute(const std::string& attribute, MonitorFlags& flags) {
  const size_t equals = attribute.find('=');
  if (equals == std::string::npos) {
    throw badInput("--attribute: " + shown(attribute) + " is no pair; write NAME=VALUE");
  }
  const std::string name = attribute.substr(0, equals), value = attribute.substr(equals + 1);
  requireName("--attribute", name);
  if (name == late::kServerAttribute) {
    throw badInput("--attribute: " + name + " follows from --late-binding-units; leave it out");
  }
  if (name == "platform" || name == "rack" || name == "server") {
    throw badInput("--attribute: every server has " + name + "; use --" + (name == "server" ? "name" : name));
  }
  if (value.empty() || characters(value) > kMaxNameCharacters || !isPrintable(value)) {
    throw badInput("--attribute: the value of " + name + " does not fit; write 1 to " +
                   std::to_string(kMaxNameCharacters) + " characters without control characters");
  }
  if (!flags.attributes.emplace(name, value).second) {
    throw badInput("--attribute: " + name + " is given twice; write it once");
  }
}

// Bytes per second; 0 where the flag is not given.
double bandwidthOf(const std::string& flag, const std::string& value) {
  if (value.empty()) return 0;
  const auto bytes = parseSize(value);
  if (!bytes) throw badInput(flag + ": " + bytes.error().message);
  if (*bytes == 0) throw badInput(flag + ": 0 bytes in a second; leave it out where it is not known");
  return static_cast<double>(*bytes);
}

PressureOptions pressureOptions(const MonitorArguments& args) {
  PressureOptions options;
  options.period = pressurePeriodOf(args.pressurePeriod);
  options.background.smoothing = durationOf("--pressure-smoothing", args.pressureSmoothing);
  options.networkBytesPerSecond = bandwidthOf("--network-bandwidth", args.networkBandwidth);
  options.memoryBytesPerSecond = bandwidthOf("--memory-bandwidth", args.memoryBandwidth);
  return options;
}

int runMonitor(MonitorArguments& args) {
  MonitorFlags& flags = args.flags;
  requireName("--name", flags.name);
  requireName("--platform", flags.platform);
  requireName("--tag", flags.tag);
  if (!flags.rack.empty()) requireName("--rack", flags.rack);
  if (!args.memory.empty()) {
    const auto bytes = parseSize(args.memory);
    if (!bytes) throw badInput("--memory: " + bytes.error().message);
    flags.memoryBytes = *bytes;
  }
  for (const std::string& attribute : args.attributes) readAttribute(attribute, flags);
  for (const std::string& extra : args.extras) {
    const Status added = addExtra(extra, flags.extras);
    if (!added) throw badInput("--extra: " + added.error().message);
  }
  for (const std::string& folder : flags.allowedRoots) {
    if (!folder.starts_with('/'))
      throw badInput("--allow-rootfs: " + shown(folder) + " is no path that starts with /");
  }
  flags.keepLogs = durationOf("--keep-logs", args.keepLogs);
  const auto keepLogsBytes = parseSize(args.keepLogsSize);
  if (!keepLogsBytes) throw badInput("--keep-logs-size: " + keepLogsBytes.error().message);
  flags.keepLogsBytes = *keepLogsBytes;
  flags.pressure = pressureOptions(args);
  flags.performancePeriod = performancePeriodOf(args.performancePeriod);
  if (flags.lateUnits.least > flags.lateUnits.most) {
    throw badInput("--late-binding-least: is more than --late-binding-units; write at most as many");
  }
  return serveMonitor(flags);
}

void addMonitorRole(CLI::App& serve) {
  CLI::App& command = addCommand(
      serve, "monitor",
      {"serve monitor [OPTIONS] --name NAME --master ADDR --token-file FILE --listen ADDR --data DIR",
       "Run tasks on this server: one per server, as root.",
       "Registers this machine's resource units with the master and runs tasks in containers. Tasks outlive "
       "the "
       "monitor: killed and started again, it goes on looking after them.\n\n"
       "With --emulate it stands for many servers whose tasks are timers, and needs no root.",
       "  tarcil serve monitor --name s1 --master 10.0.0.1:7001 \\\n"
       "      --listen 10.0.0.5:7201 --token-file /etc/tarcil/monitor.token \\\n"
       "      --data /var/lib/tarcil-monitor --platform haswell-2.3 --rack r1\n",
       kExits});
  auto args = std::make_shared<MonitorArguments>();
  command.add_option("--name", args->flags.name, "Name of the server, unique in the cluster.")
      ->required()
      ->type_name("NAME");
  command.add_option("--master", args->flags.master, "Address of the master.")->required()->type_name("ADDR");
  command.add_option("--token-file", args->flags.tokenFile, "File with a token of role monitor.")
      ->required()
      ->type_name("FILE");
  command.add_option("--listen", args->flags.listen, "host:port or unix:PATH for agents.")
      ->required()
      ->type_name("ADDR");
  command.add_option("--data", args->flags.data, "Folder of this monitor alone: tasks and their output.")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--emulate", args->flags.emulate,
                  "File of servers to stand for (docs/emulated-servers.md).")
      ->type_name("FILE");
  command
      .add_option("--rus", args->flags.rus,
                  "Resource units. Default: one per core, with all of its hardware threads.")
      ->check(wholeNumber(1, kMaxRusPerTask))
      ->type_name("N");
  command
      .add_option(
          "--cores", args->flags.cores,
          "Cores (hardware threads) that tasks may use, as 0,1,2; the others are the system's. Default: all.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(0, 65'535))
      ->type_name("LIST");
  command
      .add_option("--memory", args->memory,
                  "Memory of all units together. Default: nine tenths of the machine's.")
      ->type_name("SIZE");
  command.add_option("--platform", args->flags.platform, "Hardware type. Default: default")
      ->type_name("NAME");
  command.add_option("--rack", args->flags.rack, "Rack that the server stands in.")->type_name("NAME");
  command.add_option("--attribute", args->attributes, "NAME=VALUE for constraints; may be repeated.")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command
      .add_option("--extra", args->extras,
                  "KIND=COUNT, countable things that jobs can ask for, as gpus=4; may be repeated.")
      ->allow_extra_args(false)
      ->type_name("KIND=COUNT");
  command.add_option("--tag", args->flags.tag, "Tells clusters on one machine apart. Default: tarcil")
      ->type_name("NAME");
  command
      .add_option(
          "--pressure-period", args->pressurePeriod,
          "How often the pressures on the server are measured, 100ms or more; off: never. Default: 1s")
      ->type_name("DURATION|off");
  command
      .add_option("--performance-period", args->performancePeriod,
                  "How often the performance of tasks is sampled whose jobs ask for it, 100ms or more. "
                  "Default: 1s")
      ->type_name("DURATION");
  command
      .add_option("--pressure-smoothing", args->pressureSmoothing,
                  "Time constant in which a change of a pressure takes effect. Default: 5s")
      ->type_name("DURATION");
  command
      .add_option("--network-bandwidth", args->networkBandwidth,
                  "Bytes that the network takes in a second, each way. Default: what its interfaces say.")
      ->type_name("SIZE");
  command
      .add_option("--memory-bandwidth", args->memoryBandwidth,
                  "Bytes that the memory takes in a second. Default: not known.")
      ->type_name("SIZE");
  command
      .add_option("--allow-rootfs", args->flags.allowedRoots,
                  "Folder that jobs may use as their root file system, with all below it; may be repeated. "
                  "Default: none.")
      ->allow_extra_args(false)
      ->type_name("DIR");
  command
      .add_option("--keep-logs", args->keepLogs,
                  "How long the output of ended tasks is kept at most. Default: 7d")
      ->type_name("DURATION");
  command
      .add_option("--keep-logs-size", args->keepLogsSize,
                  "Room that the output of ended tasks takes at most; the oldest goes first. Default: 4GiB")
      ->type_name("SIZE");
  command
      .add_option("--late-binding-units", args->flags.lateUnits.most,
                  "Units that late-bound tasks may have at most, on loan while no other job waits for them. "
                  "Default: 0, it takes none")
      ->check(wholeNumber(0, kMaxServerRus))
      ->type_name("N");
  command
      .add_option("--late-binding-least", args->flags.lateUnits.least,
                  "Of these, units that are theirs for good once they have them. Default: 0")
      ->check(wholeNumber(0, kMaxServerRus))
      ->type_name("N");
  command.add_flag("--stop-tasks", args->flags.stopTasks, "On SIGTERM end the tasks too.");
  addRoleFlags(command, args->flags.role);
  onRun(command, [args]() { return runMonitor(*args); });
}

}  // namespace

void addServe(CLI::App& app) {
  CLI::App& serve = addGroup(
      app, "serve",
      {"serve ROLE [OPTIONS]", "Run a role of a cluster.",
       "A cluster is one master, one or more agents, and one monitor per server, each a process of its own. "
       "`tarcil up` starts all of them on this machine for a first try.",
       "", ""});
  addMasterRole(serve);
  addAgentRole(serve);
  addMonitorRole(serve);
}

}  // namespace tarcil
