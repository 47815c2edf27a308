#include <sched.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/failure.h"
#include "cli/output.h"
#include "cli/roles/roles.h"
#include "cli/servers_file.h"
#include "env/clock.h"
#include "monitor/container_executor.h"
#include "monitor/emulated_runner.h"
#include "monitor/monitor_server.h"
#include "monitor/pressure_loop.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

// Less than that starts no program, and 0 would mean no limit.
constexpr uint64_t kLeastMemoryPerRu = 1u << 20;

// Identity of a monitor: random, made at its first start, so that another one cannot pass for it by accident.
std::string identityIn(const std::string& folder) {
  const std::string path = folder + "/identity";
  std::string identity;
  std::ifstream(path) >> identity;
  if (!identity.empty()) return identity;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw badInput(folder + ": cannot be made: " + problem.message() + "; choose a writable --data folder");
  identity = makeToken().substr(0, 32);
  std::ofstream(path) << identity << std::endl;
  if (!std::filesystem::exists(path))
    throw badInput(path + ": cannot be written; choose a writable --data folder");
  return identity;
}

std::vector<uint32_t> coresOfThisMachine() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// Those asked for, each once and there; all of this machine's where none is asked for.
std::vector<uint32_t> coresFor(const MonitorFlags& flags) {
  std::vector<uint32_t> present = coresOfThisMachine();
  if (flags.cores.empty()) return present;
  std::set<uint32_t> used;
  for (uint32_t core : flags.cores) {
    if (std::find(present.begin(), present.end(), core) == present.end()) {
      throw badInput("--cores: this machine has no core " + std::to_string(core) +
                     " to use; `nproc` counts them");
    }
    if (!used.insert(core).second) throw badInput("--cores: " + std::to_string(core) + " is there twice");
  }
  return flags.cores;
}

uint64_t memoryOfThisMachine() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string pathOfShim() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tarcil-shim";
}

ServerFacts factsOf(const MonitorFlags& flags, const std::vector<uint32_t>& cores,
                    const std::string& address) {
  ServerFacts facts;
  facts.name = flags.name;
  facts.platform = flags.platform;
  facts.rack = flags.rack;
  facts.attributes = flags.attributes;
  facts.extras = flags.extras;
  facts.rus = flags.rus == 0 ? static_cast<uint32_t>(cores.size()) : flags.rus;
  facts.cores = static_cast<uint32_t>(cores.size());
  facts.memoryBytes = flags.memoryBytes == 0 ? memoryOfThisMachine() / 10 * 9 : flags.memoryBytes;
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
    facts.address = address;
    facts.emulated = true;
    servers.push_back(std::move(facts));
  }
  return servers;
}

// A monitor process: the server, what runs its tasks, and its listener.
int serveWith(RoleProcess& process, MonitorServer& server, Executor& executor,
              std::vector<ServerFacts> servers, Listener listener, bool stopTasks) {
  server.start(executor, std::move(servers));
  process.serveMetrics([&server]() { return server.metrics(); });
  auto serving = serve(kj::mv(listener.receiver), [&server]() { return server.gate(); });
  const int code = process.run(kj::mv(serving));
  if (stopTasks) server.killTasks().wait(process.waitScope());
  return code;
}

MonitorServerOptions serverOptions(const MonitorFlags& flags) {
  return {identityIn(flags.data), flags.master, requireInput(readTokenFile(flags.tokenFile))};
}

int serveEmulated(const MonitorFlags& flags) {
  const EmulatedServers emulated = requireInput(readServersFile(flags.emulate));
  RoleProcess process("monitor " + flags.name, flags.role);
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  MonitorServer server(
      net, systemClock(), process.rng(), serverOptions(flags), noOutput(),
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  EmulatedRunner executor(net.timer, systemClock(), server);
  auto servers = emulatedFacts(emulated, listener.address);
  return serveWith(process, server, executor, std::move(servers), kj::mv(listener), flags.stopTasks);
}

int serveContainers(const MonitorFlags& flags) {
  const std::vector<uint32_t> cores = coresFor(flags);
  RoleProcess process("monitor " + flags.name, flags.role);
  const Net net = process.net();
  Listener listener = process.listen(flags.listen);
  ServerFacts facts = factsOf(flags, cores, listener.address);

  if (facts.memoryBytes / facts.rus < kLeastMemoryPerRu) {
    throw badInput("--memory: that is less than 1MiB for each of " + std::to_string(facts.rus) +
                   " resource units; give more, or fewer units");
  }

  ContainerOptions options;
  options.dataDirectory = flags.data;
  options.shim = pathOfShim();
  options.tag = flags.tag;
  options.server = flags.name;
  options.cores = cores;
  options.memoryPerRu = facts.memoryBytes / facts.rus;
  MonitorServer server(
      net, systemClock(), process.rng(), serverOptions(flags), fileOutput(flags.data, process.eventPort()),
      [&process](const Error& error) {
        process.fail(exitCodeOf(error.code), "the master refuses: " + error.message);
      },
      [&process]() { process.ready(); });
  auto executor = ContainerExecutor::open(std::move(options), process.eventPort(), systemClock(), server);
  if (!executor.ok()) throw Failure(kExitBadInput, "monitor " + flags.name + ": " + executor.error().message);
  facts.missing = (*executor)->missing();
  for (const std::string& what : facts.missing) spdlog::info("this machine has no {}", what);
  const PressureLoop measuring(net.timer, systemClock(), server, flags.name, flags.pressure,
                               {cores.begin(), cores.end()}, (*executor)->counted());
  return serveWith(process, server, **executor, {facts}, kj::mv(listener), flags.stopTasks);
}

}  // namespace

int serveMonitor(const MonitorFlags& flags) {
  requireAddress("--listen", flags.listen, AddressUse::kListen);
  requireAddress("--master", flags.master, AddressUse::kConnect);
  return flags.emulate.empty() ? serveContainers(flags) : serveEmulated(flags);
}

}  // namespace tarcil
