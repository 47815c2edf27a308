// tarcil serve monitor
#include <CLI/CLI.hpp>

#include "cli/tarcild/serve.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/model/job.h"
#include "core/state/server_check.h"
#include "deploy/roles/roles.h"
#include "formats/extras_field.h"
#include "latebinding/names.h"

namespace tarcil {
namespace {

struct Monitor {
  explicit Monitor(CLI::App& command) : table(command) { flags.lateUnits.most = 0; }

  OptionTable table;
  MonitorFlags flags;
  std::vector<std::string> attributes, extras, extraDevices, groups;
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
  if (!isAttributeValue(value)) {
    throw badInput("--attribute: the value of " + name + " does not fit; write 1 to " +
                   std::to_string(kMaxNameCharacters) + " characters without control characters");
  }
  if (!flags.attributes.emplace(name, value).second) {
    throw badInput("--attribute: " + name + " is given twice; write it once");
  }
  if (flags.attributes.size() > kMaxOwnAttributes) {
    throw badInput("--attribute: is there more than " + std::to_string(kMaxOwnAttributes) +
                   " times, as many as a server may have; leave some out");
  }
}

void readExtraDevices(const std::vector<std::string>& arguments, MonitorFlags& flags) {
  if (!arguments.empty() && !flags.emulate.empty()) {
    throw badInput("--extra-device: the tasks of emulated servers open no devices; leave it out");
  }
  const auto devices = findExtraDevices(arguments, flags.extras);
  if (!devices) throw badInput("--extra-device: " + devices.error().message);
  flags.extraDevices = *devices;
}

void checkNames(const MonitorFlags& flags) {
  if (!flags.name.empty()) requireName("--name", flags.name);
  requireName("--platform", flags.platform);
  requireName("--tag", flags.tag);
  if (!flags.rack.empty()) requireName("--rack", flags.rack);
}

void checkView(const MonitorFlags& flags) {
  for (const auto& [flag, paths] :
       {std::pair("--share", &flags.shares), std::pair("--hide", &flags.hidden)}) {
    if (paths->empty()) continue;
    if (!flags.emulate.empty())
      throw badInput(std::string(flag) + ": the tasks of emulated servers see no files; leave it out");
    if (const Status good = checkViewPaths(*paths); !good.ok())
      throw badInput(std::string(flag) + ": " + good.error().message);
  }
  if (flags.hostView && !flags.shares.empty())
    throw badInput("--share: is part of the --host-view; leave one out");
}

int run(Monitor& monitor) {
  MonitorFlags& flags = monitor.flags;
  checkNames(flags);
  flags.data = requireInput(dataFolder(flags.data));
  for (const std::string& attribute : monitor.attributes) readAttribute(attribute, flags);
  for (const std::string& extra : monitor.extras) {
    const Status added = addExtra(extra, flags.extras);
    if (!added) throw badInput("--extra: " + added.error().message);
  }
  readExtraDevices(monitor.extraDevices, flags);
  for (const std::string& folder : flags.allowedRoots) {
    if (!folder.starts_with('/'))
      throw badInput("--allow-rootfs: " + shown(folder) + " is no path that starts with /");
  }
  checkView(flags);
  for (const std::string& name : monitor.groups) {
    const auto group = groupNamed(name);
    if (!group)
      throw badInput("--task-group: " + shown(name) +
                     " is no group of this machine; `getent group` lists them");
    flags.groups.push_back(*group);
  }
  monitor.table.read();
  for (const std::string& name : flags.pressure.interfaces) {
    if (name.empty() || name.find('/') != std::string::npos || !interfaceNamed(MachinePaths{}.sys, name)) {
      throw badInput("--network-interface: " + shown(name) + " is no network interface of this machine; " +
                     "`ip link` lists them");
    }
  }
  for (const std::string& name : flags.pressure.disks) {
    if (name.empty() || name.find('/') != std::string::npos || !diskNamed(MachinePaths{}.sys, name)) {
      throw badInput("--disk: " + shown(name) + " is no disk of this machine; `lsblk` lists them");
    }
  }
  if (flags.lateUnits.least > flags.lateUnits.most) {
    throw badInput("--late-binding-least: is more than --late-binding-units; write at most as many");
  }
  return serveMonitor(flags);
}

void addServer(CLI::App& command, Monitor& monitor) {
  OptionTable& table = monitor.table;
  MonitorFlags& flags = monitor.flags;
  table.text("--name", flags.name, "NAME",
             "Name of the server, unique in the cluster. Default: the identity's.");
  table.texts("--master", flags.masters, "ADDR[,ADDR]",
              "Addresses of all masters, of which the one that leads is found. May be repeated. Default: the "
              "identity's.");
  table.text("--token-file", flags.tokenFile, "FILE",
             "File with a token of role monitor, where there is no identity.");
  table.text("--listen", flags.listen, "ADDR", "host:port or unix:PATH for agents.").required();
  table.text(
      "--advertise", flags.advertise, "ADDR",
      "What others are told to dial: where --listen is 0.0.0.0:PORT, or the machine has another address for "
      "them. Port 0: that of --listen. Default: as --listen.");
  table.text("--data", flags.data, "DIR",
             "Folder of this monitor alone: tasks and their output, and the identity that `tarcil join` "
             "made. Default: as for other commands.");
  table.text("--emulate", flags.emulate, "FILE", "File of servers to stand for (docs/emulated-servers.md).");
  table.optionalCount("--rus", flags.rus, 1, kMaxRusPerTask,
                      "Resource units. Default: one per core, with all of its hardware threads.");
  command
      .add_option(
          "--cores", flags.cores,
          "Cores (hardware threads) that tasks may use, as 0,1,2; the others are the system's. Default: all.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(0, 65'535))
      ->type_name("LIST");
  table.optionalSize("--memory", flags.memoryBytes,
                     "Memory of all units together. Default: nine tenths of the machine's.");
  table.number(
      "--memory-overcommit", flags.memoryOvercommit, {.least = 1, .most = kMaxMemoryOvercommit / 100.0},
      "How many times the memory tasks may claim together: above 1 where they ask for more than they use.");
  table.optionalSize(
      "--work-disk", flags.workDiskBytes,
      "Disk that tasks may claim for their working directories and /tmp together. Default: nine "
      "tenths of what is free on the disk of --data at the start.");
  table.flag(
      "--enforce-memory", flags.enforceMemory,
      "Tasks together get no more than --memory, and it is what pressure on memory is a share of: for a "
      "server that is part of a machine.");
  table.text("--platform", flags.platform, "NAME", "Hardware type.");
  table.text("--rack", flags.rack, "NAME", "Rack that the server stands in.");
  table.texts("--attribute", monitor.attributes, "NAME=VALUE",
              "NAME=VALUE for constraints; may be repeated.");
  table.texts("--extra", monitor.extras, "KIND=COUNT",
              "KIND=COUNT, countable things that jobs can ask for, as gpus=4; may be repeated.");
  table.texts(
      "--extra-device", monitor.extraDevices, "KIND=PATH",
      "KIND=PATH, a device that only tasks with extras of that kind can open: with {n} in the path that "
      "of each one, as gpus=/dev/nvidia{n}, else one that comes with any, as gpus=/dev/nvidiactl; may be "
      "repeated. Default: none, and tasks are only told which are theirs.");
  table.text("--tag", flags.tag, "NAME", "Tells clusters on one machine apart.");
}

void addMeasuring(OptionTable& table, MonitorFlags& flags) {
  table.duration("--pressure-period", flags.pressure.period,
                 "How often the pressures on the server are measured, 100ms or more; off: never.",
                 kPressurePeriod);
  table.duration("--performance-period", flags.performancePeriod,
                 "How often the performance of tasks is sampled whose jobs ask for it, 100ms or more.",
                 {kPressurePeriod.least, kPressurePeriod.most});
  table.duration("--pressure-smoothing", flags.pressure.background.smoothing,
                 "Time constant of the smoothing of pressures.");
  table.texts(
      "--network-interface", flags.pressure.interfaces, "NAME",
      "Network interface whose traffic counts, as eth0; may be repeated. Default: the physical ones.");
  table.texts("--disk", flags.pressure.disks, "NAME",
              "Disk that tasks use, as sda; may be repeated. Default: the physical ones.");
  table.bandwidth("--network-bandwidth", flags.pressure.networkBytesPerSecond,
                  "Network bandwidth in bytes per second, each way. Default: as its interfaces report.");
  table.bandwidth("--memory-bandwidth", flags.pressure.memoryBytesPerSecond,
                  "Memory bandwidth in bytes per second. Default: not known.");
}

// More only share the network and the disk.
constexpr int64_t kMaxImageFetches = 64;

// Of any machine: what Linux numbers at most.
constexpr int64_t kMaxPids = 4'194'304;

void addTasks(Monitor& monitor) {
  OptionTable& table = monitor.table;
  MonitorFlags& flags = monitor.flags;
  table.texts(
      "--allow-rootfs", flags.allowedRoots, "DIR",
      "Folder that jobs may use as their root file system, or take images from, with all below it; may be "
      "repeated. Default: none.");
  table.texts("--insecure-registry", flags.images.insecureRegistries, "HOST",
              "Registry, as HOST or HOST:PORT, whose images are fetched without TLS, or from which nothing "
              "proves who it is; may be repeated. Default: none.");
  table.text(
      "--image-user", flags.imageUser, "NAME",
      "User of this machine who fetches and unpacks images, and whom their files belong to; not root.");
  table.size("--image-size", flags.images.mostBytes,
             "Most that one image may take, as it is fetched and as it is unpacked.");
  table.duration("--image-timeout", flags.images.timeout, "Longest that one image may take to be fetched.");
  table.count("--image-fetches", flags.images.atOnce, 1, kMaxImageFetches,
              "Images that are fetched at once.");
  table.duration("--image-keep", flags.images.keep.age,
                 "How long an image is kept after the last task that ran in it.");
  table.size("--image-disk", flags.images.keep.bytes,
             "Most space for images; of those that no task runs in, the one that was used longest ago goes "
             "first.");
  table.flag("--allow-root", flags.allowRoot,
             "Let tasks run as root, where the master lets a user's jobs do so.");
  table.texts(
      "--share", flags.shares, "PATH",
      "Folder, file or device of this machine that tasks may write to as their users may, besides /home, "
      "/srv and /var/tmp; may be repeated.");
  table.texts("--hide", flags.hidden, "PATH",
              "Folder or file of this machine that tasks do not see, besides --data; may be repeated.");
  table.texts(
      "--task-group", monitor.groups, "NAME",
      "Group of this machine that tasks are in whose user is, as video; may be repeated. Default: tasks "
      "are in their user's own group alone.");
  table.flag(
      "--host-view", flags.hostView,
      "Tasks see this machine's files and devices as their users do, and write where these may. Default: "
      "they see files read-only, what is shared excepted, and a /dev of their own.");
  table.optionalSize("--task-memory", flags.taskMemoryBytes,
                     "Most memory that a task gets, whatever its job asks for. Default: --memory.");
  table.count("--task-pids", flags.taskPids, 1, kMaxPids,
              "Most processes and threads that a task gets, whatever its job asks for.");
  table.optionalSize(
      "--task-disk", flags.taskDiskBytes,
      "What a task's private working directory and its /tmp may take up on the disk together, where its "
      "job does not say. Default: the share of its units of --work-disk.");
  table.size("--disk-reserve", flags.diskReserve,
             "Space to be left on the disk of --data: with less, no task starts.");
  table.duration("--keep-logs", flags.keepLogs, "How long the output of ended tasks is kept.");
  table.size("--keep-logs-size", flags.keepLogsBytes,
             "Most space for the output of ended tasks; the oldest goes first.");
  table.optionalCount(
      "--late-binding-units", flags.lateUnits.most, 0, kMaxServerRus,
      "Most units for late-bound tasks, lent while no other job waits for them. Default: 0, no late-bound "
      "tasks");
  table.count("--late-binding-least", flags.lateUnits.least, 0, kMaxServerRus,
              "Of these, units that late-bound tasks keep even when other jobs wait.");
  table.flag("--stop-tasks", flags.stopTasks,
             "On SIGTERM stop the tasks too; they are queued again. Default: they outlive the monitor.");
  table.duration("--stop-grace", flags.stopGrace, "Most grace that tasks get then.", kStopGrace);
}

}  // namespace

void addServeMonitor(CLI::App& serve) {
  addCommand(
      serve, "monitor",
      {"serve monitor [OPTIONS] --listen ADDR --data DIR",
       "Run tasks on this server: one per server, as root.",
       "Registers this machine's resource units with the master and runs tasks in containers. Tasks outlive "
       "the monitor: killed and started again, it adopts them.\n\n"
       "Of the devices that --extra-device names a task can open those of the extras that it was given, and "
       "no "
       "other, whatever its environment says.\n\n"
       "With --emulate it stands for many servers whose tasks are timers, and needs no root.",
       "  tarcil serve monitor --name s1 --master 10.0.0.1:7001 \\\n"
       "      --listen 10.0.0.5:7201 --token-file /etc/tarcil/monitor.token \\\n"
       "      --data /var/lib/tarcil-monitor --platform haswell-2.3 --rack r1\n"
       "  tarcil serve monitor --name s2 ... --extra gpus=4 \\\n"
       "      --extra-device gpus=/dev/nvidia{n} --extra-device gpus=/dev/nvidiactl\n",
       kRoleExits},
      [](CLI::App& command) {
        auto monitor = std::make_shared<Monitor>(command);
        addServer(command, *monitor);
        addMeasuring(monitor->table, monitor->flags);
        addTasks(*monitor);
        addRoleOptions(monitor->table, monitor->flags.role);
        onRun(command, [monitor]() { return run(*monitor); });
      });
}

}  // namespace tarcil
