#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/failure.h"
#include "core/base/text.h"
#include "deploy/roles/role_identity.h"
#include "deploy/roles/roles.h"
#include "env/clock.h"
#include "env/machine.h"
#include "formats/servers_file.h"
#include "latebinding/names.h"
#include "monitor/container/container_executor.h"
#include "monitor/container/cpu_topology.h"
#include "monitor/container/found_program.h"
#include "monitor/container/system_user.h"
#include "monitor/late/late_containers.h"
#include "monitor/late/late_emulated.h"
#include "monitor/late/late_starts.h"
#include "monitor/server/emulated_runner.h"
#include "monitor/server/monitor_server.h"
#include "monitor/server/performance_loop.h"
#include "monitor/server/pressure_loop.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

// Less than that starts no program, and 0 would mean no limit.
constexpr uint64_t kMinMemoryPerRu = 1u << 20;

void makeDataFolder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw badInput(folder + ": cannot be made: " + problem.message() + "; choose a writable --data folder");
}

// Identity of a monitor: random, made at its first start, so that another one cannot pass for it by accident.
// Requires: the folder is there.
std::string identityIn(const std::string& folder) {
  const std::string path = folder + "/identity";
  std::string identity;
  std::ifstream(path) >> identity;
  if (!identity.empty()) return identity;
  identity = makeToken().substr(0, 32);
  std::ofstream(path) << identity << std::endl;
  if (!std::filesystem::exists(path))
    throw badInput(path + ": cannot be written; choose a writable --data folder");
  return identity;
}

// A program of the same build.
std::string pathBeside(const char* program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

ImageOptions imageOptions(const MonitorFlags& flags) {
  ImageOptions options = flags.images;
  const auto user = UserDirectory().find(flags.imageUser, systemClock().now().steady);
  if (!user) throw badInput("--image-user: " + user.error().message);
  options.uid = (*user)->uid;
  options.gid = (*user)->gid;
  if (options.uid == 0) throw badInput("--image-user: is root, who may do too much; choose another");
  options.program = pathBeside("tarcil-image");
  options.skopeo = findProgram("skopeo");
  options.umoci = findProgram("umoci");
  options.allowedRoots = flags.allowedRoots;
  return options;
}

ServerFacts factsOf(const MonitorFlags& flags, const std::vector<uint32_t>& cores,
                    const CpuTopology& topology, const std::string& address) {
  ServerFacts facts;
  facts.name = flags.name;
  facts.platform = flags.platform;
  facts.rack = flags.rack;
  facts.attributes = flags.attributes;
  facts.extras = flags.extras;
  facts.rus = flags.rus == 0 ? static_cast<uint32_t>(topology.cores.size()) : flags.rus;
  facts.cores = static_cast<uint32_t>(cores.size());
  // Said where it is not what it is everywhere. What the operator says goes first.
  if (topology.nodes > 1) facts.attributes.emplace("numa_nodes", std::to_string(topology.nodes));
  if (topology.threadsPerCore > 1) {
    facts.attributes.emplace("threads_per_core", std::to_string(topology.threadsPerCore));
  }
  facts.memoryBytes = flags.memoryBytes == 0 ? memoryOfThisMachine() / 10 * 9 : flags.memoryBytes;
  facts.memoryOvercommit = static_cast<uint32_t>(std::lround(flags.memoryOvercommit * 100));
  facts.diskBytes = flags.workDiskBytes == 0 ? requireInput(diskForTasks(flags.data)) : flags.workDiskBytes;
  facts.address = address;
  return facts;
}

std::vector<ServerFacts> emulatedFacts(const EmulatedServers& emulated, const std::string& address) {
  std::vector<ServerFacts> servers;
  for (const EmulatedServer& server : emulated.servers) {
    ServerFacts facts;
    facts.name = server.name;
    facts.platform = server.platform;
    facts.rack = server.rack;
    facts.attributes = server.attributes;
    facts.extras = server.extras;
    facts.rus = facts.cores = server.rus;
    facts.memoryBytes = server.memoryBytes;
    facts.diskBytes = server.diskBytes;
    facts.address = address;
    facts.emulated = true;
    servers.push_back(std::move(facts));
  }
  return servers;
}

// Whether the servers take late-bound tasks, for agents to see.
void offerLateBinding(const MonitorFlags& flags, ServerFacts& facts) {
  if (flags.lateUnits.most == 0) return;
  facts.attributes[std::string(late::kServerAttribute)] =
      std::to_string(std::min(flags.lateUnits.most, facts.rus));
}

// Requires: they do.
LateMonitorOptions lateOptions(const MonitorFlags& flags) {
  LateMonitorOptions options;
  options.pool = flags.lateUnits;
  options.firstLease = requireInput(nextLateStart(flags.data, systemClock().now().wall));
  return options;
}

std::vector<std::string> namesOf(const std::vector<ServerFacts>& servers) {
  std::vector<std::string> names;
  for (const ServerFacts& facts : servers) names.push_back(facts.name);
  return names;
}

// A monitor process: the server, what runs its tasks, and its listener.
int serveWith(RoleProcess& process, MonitorServer& server, Executor& executor,
              std::vector<ServerFacts> servers, Listener listener, const MonitorFlags& flags,
              const RoleIdentity& identity) {
  server.start(executor, std::move(servers));
  process.onHangup([&server]() {
    server.forgetLogins();
    spdlog::info("SIGHUP: the master is asked about each token anew");
  });
  const auto renewal = keepFresh(process, flags.data, identity, askMaster(process.net(), flags.masters));
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = serve(
      process.net().timer, kj::mv(listener.receiver),
      [&server](LetIn letIn) { return server.gate(std::move(letIn)); }, process.net().security);
  const int code = process.run(kj::mv(serving));
  if (flags.stopTasks) server.stopTasks(flags.stopGrace).wait(process.waitScope());
  return code;
}

MonitorServerOptions serverOptions(const MonitorFlags& flags) {
  return {identityIn(flags.data), flags.masters, readToken(flags.tokenFile)};
}

int serveEmulated(const MonitorFlags& flags, const RoleIdentity& identity) {
  const EmulatedServers emulated = requireInput(readServersFile(flags.emulate));
  RoleProcess process("monitor " + flags.name, flags.role, identity.credentials);
  for (const std::string& master : flags.masters) process.requireSafe("--master", master);
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  MonitorServer server(
      net, systemClock(), process.rng(), serverOptions(flags), noOutput(),
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  std::map<std::string, Share> shares;
  for (const EmulatedServer& one : emulated.servers) {
    const auto found = emulated.platforms.find(one.platform);
    if (found != emulated.platforms.end()) shares.emplace(one.name, found->second);
  }
  EmulatedRunner executor(net.timer, systemClock(), server, std::move(shares),
                          [&server](const auto& violations, const auto& moved) {
                            server.tell(violations);
                            server.tell(moved);
                          });
  auto servers = emulatedFacts(emulated, addressToDial(listener.address, flags.advertise));
  LateEmulated lateExecutor(net.timer, systemClock());
  std::unique_ptr<LateBindingMonitor> late;
  if (flags.lateUnits.most > 0) {
    for (ServerFacts& facts : servers) offerLateBinding(flags, facts);
    late = std::make_unique<LateBindingMonitor>(net.timer, systemClock(), lateOptions(flags),
                                                namesOf(servers), lateExecutor, server);
    lateExecutor.tell(*late);
    server.offer(*late, noOutput());
  }
  return serveWith(process, server, executor, std::move(servers), kj::mv(listener), flags, identity);
}

int serveContainers(const MonitorFlags& flags, const RoleIdentity& identity) {
  const std::vector<uint32_t> cores = requireInput(coresToUse(flags.cores));
  RoleProcess process("monitor " + flags.name, flags.role, identity.credentials);
  for (const std::string& master : flags.masters) process.requireSafe("--master", master);
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  const CpuTopology topology = cpuTopology("/sys", cores);
  ServerFacts facts = factsOf(flags, cores, topology, addressToDial(listener.address, flags.advertise));

  if (facts.memoryBytes / facts.rus < kMinMemoryPerRu) {
    throw badInput("--memory: that is less than 1MiB for each of " + std::to_string(facts.rus) +
                   " resource units; give more, or fewer units");
  }

  ContainerOptions options;
  options.dataDirectory = flags.data;
  options.shim = pathBeside("tarcil-shim");
  options.tarcil = std::filesystem::read_symlink("/proc/self/exe");
  options.tag = flags.tag;
  options.server = flags.name;
  options.units = coreUnits(topology, facts.rus);
  options.unitsShareCores = facts.rus > options.units.size();
  for (const auto& [name, device] : disksFor(flags.pressure, "/sys")) options.disks.push_back(device);
  for (const NetworkInterface& interface : interfacesFor(flags.pressure, "/sys")) {
    options.interfaces.push_back(interface.index);
  }
  CacheMonitor cache(SystemPaths{}.resctrl, "tarcil-" + flags.tag + "-" + flags.name + "-");
  options.cache = &cache;
  options.extraDevices = flags.extraDevices;
  options.allowedRoots = flags.allowedRoots;
  options.allowRoot = flags.allowRoot;
  options.hostView = flags.hostView;
  options.shares = flags.shares;
  options.hidden = flags.hidden;
  options.hidden.insert(options.hidden.end(), {flags.data, flags.tokenFile});
  if (flags.listen.starts_with("unix:")) options.hidden.push_back(flags.listen.substr(5));
  options.crun = findProgram("crun");
  if (!options.crun.empty()) facts.attributes.emplace("crun", "true");
  options.images = imageOptions(flags);
  if (!options.images.skopeo.empty() && !options.images.umoci.empty()) {
    facts.attributes.emplace("images", "true");
  }
  options.keepDone.age = flags.keepLogs;
  options.keepDone.bytes = flags.keepLogsBytes;
  options.diskPerTask = flags.taskDiskBytes;
  options.diskReserve = flags.diskReserve;
  options.mostMemory = flags.taskMemoryBytes == 0 ? facts.memoryBytes : flags.taskMemoryBytes;
  options.mostPids = flags.taskPids;
  options.groups = flags.groups;
  options.memoryPerRu = facts.memoryBytes / facts.rus;
  options.diskPerRu = facts.diskBytes / facts.rus;
  PressureOptions pressure = flags.pressure;
  if (flags.enforceMemory) options.memoryBytes = pressure.memoryBytes = facts.memoryBytes;
  MonitorServer server(
      net, systemClock(), process.rng(), serverOptions(flags), fileOutput(flags.data, process.eventPort()),
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  auto executor = ContainerExecutor::open(options, process.eventPort(), systemClock(), server);
  if (!executor.ok()) throw Failure(kExitBadInput, "monitor " + flags.name + ": " + executor.error().message);
  kj::Own<LateContainers> lateExecutor;
  // What an earlier start left is ended in any case.
  if (flags.lateUnits.most > 0 || std::filesystem::exists(flags.data + "/late-binding")) {
    lateExecutor =
        LateContainers::open(net, process.eventPort(), systemClock(), options).wait(process.waitScope());
  }
  facts.missing = (*executor)->missing();
  if (!facts.missing.empty()) spdlog::info("this machine has no {}", joined(facts.missing));
  if (const std::string why = (*executor)->whyNoDiskQuota(); !why.empty()) {
    spdlog::info("no project quotas for limits.disk, what tasks take up is looked at from time to time: {}",
                 why);
  }
  offerLateBinding(flags, facts);
  std::unique_ptr<LateBindingMonitor> late;
  if (flags.lateUnits.most > 0) {
    late = std::make_unique<LateBindingMonitor>(net.timer, systemClock(), lateOptions(flags),
                                                std::vector{facts.name}, *lateExecutor, server);
    lateExecutor->tell(*late);
    server.offer(*late, fileOutput(flags.data + "/late-binding", process.eventPort()));
  }
  const PressureLoop measuring(net.timer, systemClock(), server, flags.name, pressure,
                               {cores.begin(), cores.end()}, **executor, cache);
  const PerformanceLoop watching(net.timer, systemClock(), server, **executor, cache, flags.performancePeriod,
                                 pressure, cores);
  const int code = serveWith(process, server, **executor, {facts}, kj::mv(listener), flags, identity);
  // Nobody would hear of their ends.
  if (late != nullptr) lateExecutor->killTasks().wait(process.waitScope());
  return code;
}

}  // namespace

Result<uint64_t> diskForTasks(const std::string& folder) {
  constexpr uint64_t kStep = uint64_t{1} << 28;
  const auto free = freeDiskBytes(folder);
  if (!free) {
    return invalid(folder + ": how much is free on its disk cannot be found out; choose another --data " +
                   "folder, or say with --work-disk what tasks may claim");
  }
  return *free / 10 * 9 / kStep * kStep;
}

int serveMonitor(const MonitorFlags& asGiven) {
  MonitorFlags flags = asGiven;
  flags.data = absolutePath(flags.data);
  flags.emulate = absolutePath(flags.emulate);
  const RoleIdentity identity = readRoleIdentity(flags.data, MemberRole::kMonitor);
  complete(identity, MemberRole::kMonitor, flags.name, flags.masters, flags.tokenFile);
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  addressToDial(flags.listen, flags.advertise);
  makeDataFolder(flags.data);
  return flags.emulate.empty() ? serveContainers(flags, identity) : serveEmulated(flags, identity);
}

}  // namespace tarcil
