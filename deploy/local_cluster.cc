#include "deploy/local_cluster.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "client/metrics_sources.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "deploy/free_ports.h"
#include "deploy/local_etcd.h"
#include "deploy/roles/roles.h"
#include "deploy/roles/secret_keys.h"
#include "env/machine.h"
#include "env/user_name.h"
#include "monitor/container/task_store.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

// Part of the machine's memory that servers of a local cluster share.
constexpr double kMemoryPart = 0.8;

std::string userName() {
  if (const char* sudo = std::getenv("SUDO_USER")) return sudo;
  return userNameOf(::getuid()).value_or(std::to_string(::getuid()));
}

// Tasks never run as root unless an operator writes so into the file of tokens.
std::vector<std::string> runAsOf(const std::string& user) {
  if (user == "root") return {"nobody"};
  return {user, "nobody"};
}

// Sockets of agents that let every user of the machine in; nothing else is in it.
constexpr const char* kOpenFolder = "/users";

Status makeFolders(const std::string& data) {
  for (const char* folder : {"", "/run", "/log", "/master", "/tokens", "/monitors", kOpenFolder}) {
    std::error_code problem;
    fs::create_directories(data + folder, problem);
    if (problem) {
      return invalid(data + folder + ": cannot be made: " + problem.message() +
                     "; choose another folder with --data");
    }
  }
  // Sockets and tokens are inside. Tasks of every user get to their folders below monitors/.
  for (const auto& [folder, mode] :
       {std::pair("", 0711), std::pair("/run", 0700), std::pair("/log", 0700), std::pair("/master", 0700),
        std::pair("/tokens", 0700), std::pair("/monitors", 0711), std::pair(kOpenFolder, 0711)}) {
    if (::chmod((data + folder).c_str(), static_cast<mode_t>(mode)) != 0)
      return invalid(data + ": its permissions cannot be set; choose a folder of your own with --data");
  }
  return {};
}

Error alreadyRunning(const std::string& data, const SupervisorRecord& supervisor) {
  return invalid("a cluster is running in " + data + " (supervised by process " +
                 std::to_string(supervisor.pid) + "); stop it with: tarcil down --data " + data);
}

std::string tokenFile(const std::string& data, const std::string& role) {
  return data + "/tokens/" + role + ".token";
}

// The first tokens of a new cluster: one for each role, for the user who starts it.
Status makeTokens(const std::string& data) {
  const std::string table = data + "/master/tokens";
  if (fs::exists(table)) return {};
  const std::string user = userName();
  std::vector<TokenTable::Entry> entries;
  for (Role role : {Role::kOperate, Role::kSubmit, Role::kAgent, Role::kMonitor}) {
    const bool forPeople = role == Role::kOperate || role == Role::kSubmit;
    const std::string token = makeToken();
    entries.push_back({token,
                       {forPeople ? user : std::string(name(role)), role,
                        forPeople ? runAsOf(user) : std::vector<std::string>{}}});
    if (Status status = writeTokenFile(tokenFile(data, std::string(name(role))), token); !status.ok())
      return status;
  }
  return TokenTable::write(table, entries);
}

std::string socketAt(const std::string& data, const std::string& name) {
  return "unix:" + data + "/run/" + name + ".sock";
}

// What every role has: where it listens, serves metrics, and logs.
RoleCommand roleOf(const std::string& data, const std::string& role, const std::string& name,
                   const std::vector<std::string>& arguments, const std::string& address = "") {
  RoleCommand command{
      role, name, address.empty() ? socketAt(data, name) : address, socketAt(data, name + ".metrics"), {}, {},
      0,    {}};
  command.arguments = {"serve", role, "--listen", command.address, "--metrics", command.metrics};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.log = data + "/log/" + name + ".log";
  return command;
}

std::string masterName(const LocalClusterPlan& plan, uint32_t number) {
  return plan.masters == 1 ? "master" : "master-" + std::to_string(number);
}

std::vector<RoleCommand> mastersOf(const LocalClusterPlan& plan, const std::string& etcdUrls) {
  std::vector<RoleCommand> masters;
  for (uint32_t i = 1; i <= plan.masters; ++i) {
    std::vector<std::string> arguments = {"--data", plan.data};
    if (plan.letsAllIn) arguments.insert(arguments.end(), {"--vouch", "*=all"});
    if (!etcdUrls.empty())
      arguments.insert(arguments.end(), {"--etcd", etcdUrls, "--etcd-new", "--etcd-wait", "1m"});
    masters.push_back(roleOf(plan.data, "master", masterName(plan, i), arguments));
  }
  return masters;
}

std::string masterSockets(const LocalClusterPlan& plan) {
  std::vector<std::string> sockets;
  for (uint32_t i = 1; i <= plan.masters; ++i) sockets.push_back(socketAt(plan.data, masterName(plan, i)));
  return joined(sockets, ",");
}

RoleCommand agentOf(const LocalClusterPlan& plan, uint32_t number) {
  const std::string name = "agent-" + std::to_string(number);
  std::vector<std::string> arguments = {
      "--name", name, "--master", masterSockets(plan), "--token-file", tokenFile(plan.data, "agent")};
  if (plan.letsAllIn) arguments.emplace_back("--vouch");
  return roleOf(plan.data, "agent", name, arguments,
                plan.letsAllIn ? "unix:" + plan.data + kOpenFolder + "/" + name + ".sock" : "");
}

RoleCommand monitorOf(const LocalClusterPlan& plan, const std::string& name) {
  return roleOf(plan.data, "monitor", name,
                {"--name", name, "--master", masterSockets(plan), "--token-file",
                 tokenFile(plan.data, "monitor"), "--data", plan.data + "/monitors/" + name});
}

// Where the gateway was before, so that what is open in a browser goes on.
uint16_t earlierPort(const std::string& data) {
  const auto context = readContext(data);
  if (!context || context->page.empty()) return 0;
  return static_cast<uint16_t>(
      std::strtoul(context->page.substr(context->page.rfind(':') + 1).c_str(), nullptr, 10));
}

Result<RoleCommand> gatewayOf(const std::string& data, const std::vector<std::string>& agents) {
  const auto port = freePort(earlierPort(data), "the page; leave it out with --no-page");
  if (!port) return port.error();
  std::string cluster;
  for (const std::string& agent : agents) cluster += (cluster.empty() ? "" : ",") + agent;
  const std::string key = tokenFile(data, "gateway");
  if (!fs::exists(key)) {
    if (Status status = writeTokenFile(key, makeToken()); !status.ok()) return status.error();
  }
  return roleOf(data, "gateway", "gateway",
                {"--cluster", cluster, "--token-file", tokenFile(data, "operate"), "--key-file", key,
                 "--recordings", data + "/recordings"},
                "127.0.0.1:" + std::to_string(*port));
}

// Tells the cgroups of this cluster from those of another on this machine.
std::string tagOf(const std::string& data) {
  std::stringstream tag;
  tag << std::hex << std::hash<std::string>()(data);
  return tag.str();
}

std::string serverName(uint32_t number) {
  return "server-" + std::to_string(number);
}

// Of each real server.
uint64_t memoryOfServer(const LocalClusterPlan& plan) {
  if (plan.slices && plan.slices->memoryBytes > 0) return plan.slices->memoryBytes;
  return memoryForServers() / plan.servers;
}

// The disk of a slice is small: this part of it, and not as much as of a whole server's, is kept free.
constexpr uint64_t kDiskReservePart = 16;

// Where it is and what of the machine is its own.
void place(const Slice& slice, const SliceSize& size, RoleCommand& monitor) {
  monitor.networkNamespace = slice.networkNamespace;
  monitor.diskProcess = slice.disk.process;
  std::string cores;
  for (const uint32_t core : slice.cores) cores += (cores.empty() ? "" : ",") + std::to_string(core);
  monitor.arguments.insert(monitor.arguments.end(),
                           {"--cores", cores, "--enforce-memory", "--disk", slice.disk.device,
                            "--network-interface", slice.interface, "--network-bandwidth",
                            std::to_string(static_cast<uint64_t>(size.networkBytesPerSecond)) + "B",
                            "--disk-reserve", std::to_string(size.diskBytes / kDiskReservePart) + "B"});
}

Result<std::vector<RoleCommand>> monitorsOf(const LocalClusterPlan& plan, const std::vector<Slice>& slices) {
  std::vector<RoleCommand> monitors;
  if (!plan.emulate.empty()) {
    monitors.push_back(monitorOf(plan, "emulated"));
    auto& arguments = monitors.back().arguments;
    arguments.insert(arguments.end(), {"--emulate", fs::absolute(plan.emulate), "--late-binding-units",
                                       std::to_string(plan.lateUnits.value_or(0))});
    return monitors;
  }
  const size_t cores = slices.empty() ? std::thread::hardware_concurrency() : slices.front().cores.size();
  const uint32_t rus = plan.rus == 0 ? std::max(1u, static_cast<uint32_t>(cores)) : plan.rus;
  const auto disk = diskForTasks(plan.data);
  if (!disk) return disk.error();
  const uint64_t diskOfServer = *disk / plan.servers;
  for (uint32_t i = 1; i <= plan.servers; ++i) {
    monitors.push_back(monitorOf(plan, serverName(i)));
    auto& arguments = monitors.back().arguments;
    arguments.insert(
        arguments.end(),
        {"--rus", std::to_string(rus), "--memory", std::to_string(memoryOfServer(plan)) + "B", "--tag",
         tagOf(plan.data), "--rack", "rack-" + std::to_string((i - 1) / 2 + 1), "--pressure-period",
         plan.pressurePeriod, "--late-binding-units", std::to_string(plan.lateUnits.value_or(rus)), "--hide",
         plan.data, "--stop-tasks", "--allow-root", "--stop-grace", formatDuration(plan.stopGrace)});
    arguments.insert(arguments.end(), plan.monitorOptions.begin(), plan.monitorOptions.end());
    if (slices.empty() && diskOfServer > 0)
      arguments.insert(arguments.end(), {"--work-disk", std::to_string(diskOfServer) + "B"});
    if (!slices.empty()) place(slices[i - 1], *plan.slices, monitors.back());
  }
  return monitors;
}

// A cluster has one store: what is in a folder is not what is in etcd.
Status requireSameStore(const LocalClusterPlan& plan) {
  const std::string folder = plan.data + "/master/store";
  if (plan.etcd.empty() && hasLocalEtcd(plan.data)) {
    return invalid("the cluster in " + plan.data + " has its store in etcd; start it with --etcd " +
                   kLocalEtcd + ", or choose another folder with --data");
  }
  if (!plan.etcd.empty() && fs::exists(folder)) {
    return invalid("--etcd: the cluster in " + plan.data + " has its store in " + folder +
                   "; put that into etcd with `tarcil master import` and move the folder away, or choose "
                   "another folder with --data");
  }
  return {};
}

// Its members as the first stage, where they are brought along; where etcd is, or empty.
Result<std::string> addEtcd(const LocalClusterPlan& plan, LocalCluster& cluster) {
  if (Status same = requireSameStore(plan); !same) return same.error();
  if (plan.etcd != kLocalEtcd) return plan.etcd;
  auto etcd = describeLocalEtcd(plan.data);
  if (!etcd) return etcd.error();
  cluster.stages.push_back(std::move(etcd->members));
  return std::move(etcd->urls);
}

// Its processes; writes the context and where metrics are served.
Result<LocalCluster> describe(const LocalClusterPlan& plan, const std::vector<Slice>& slices) {
  LocalCluster cluster;
  const auto etcdUrls = addEtcd(plan, cluster);
  if (!etcdUrls) return etcdUrls.error();
  cluster.stages.push_back(mastersOf(plan, *etcdUrls));
  auto monitors = monitorsOf(plan, slices);
  if (!monitors) return monitors.error();
  cluster.stages.push_back(std::move(*monitors));
  cluster.stages.emplace_back();
  for (uint32_t i = 1; i <= plan.agents; ++i) {
    cluster.stages.back().push_back(agentOf(plan, i));
    cluster.context.agents.push_back(cluster.stages.back().back().address);
  }
  if (plan.hasPage) {
    auto gateway = gatewayOf(plan.data, cluster.context.agents);
    if (!gateway) return gateway.error();
    cluster.context.page = gateway->address;
    cluster.stages.push_back({std::move(*gateway)});
  }
  cluster.context.tokenFile = tokenFile(plan.data, "operate");
  cluster.context.name = "local";
  if (Status status = writeContext(plan.data, cluster.context); !status.ok()) return status.error();
  if (plan.letsAllIn && ::chmod((plan.data + "/context.json").c_str(), 0644) != 0)
    return invalid(plan.data + "/context.json: its permissions cannot be set");
  std::vector<MetricsSource> sources;
  for (const auto& stage : cluster.stages) {
    for (const RoleCommand& role : stage) {
      if (!role.metrics.empty()) sources.push_back({role.role, role.name, role.metrics});
    }
  }
  if (Status status = writeMetricsSources(plan.data, sources); !status.ok()) return status.error();
  return cluster;
}

}  // namespace

Status checkReachable(const std::string& data) {
  std::error_code problem;
  for (fs::path folder = fs::path(data).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    const auto status = fs::status(folder, problem);
    if (status.type() == fs::file_type::not_found) continue;  // is made, and reachable
    if ((status.permissions() & fs::perms::others_exec) != fs::perms::none) continue;
    return invalid("other users of this machine cannot enter " + folder.string() +
                   "; choose a folder that they can get to with --data, such as /var/lib/tarcil");
  }
  return {};
}

uint64_t memoryForServers() {
  return static_cast<uint64_t>(static_cast<double>(memoryOfThisMachine()) * kMemoryPart);
}

SlicesPlan slicesOf(const LocalClusterPlan& plan) {
  SlicesPlan slices{plan.data, {}, plan.cores, *plan.slices};
  for (uint32_t i = 1; i <= plan.servers; ++i) slices.names.push_back(serverName(i));
  return slices;
}

Result<kj::AutoCloseFd> lockLocalCluster(const std::string& data) {
  if (Status status = makeFolders(data); !status.ok()) return status.error();
  const std::string path = data + "/run/lock";
  kj::AutoCloseFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return invalid(path + ": cannot be written; choose another folder with --data");
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
    // For the message below.
    if (::ftruncate(lock, 0) == 0) ::dprintf(lock, "%d\n", ::getpid());
    return lock;
  }
  if (const auto running = runningSupervisor(data); running.ok()) return alreadyRunning(data, *running);
  std::string pid = "unknown";
  std::ifstream(path) >> pid;
  return invalid("another `tarcil up`, process " + pid + ", is starting or ending a cluster in " + data +
                 "; wait until it has, or choose another folder with --data");
}

Result<LocalCluster> prepareLocalCluster(const LocalClusterPlan& plan) {
  if (const auto running = runningSupervisor(plan.data); running.ok()) {
    return alreadyRunning(plan.data, *running);
  }
  if (Status status = makeFolders(plan.data); !status.ok()) return status.error();
  if (Status status = makeTokens(plan.data); !status.ok()) return status.error();
  if (Status status = makeSecretKeys(plan.data); !status.ok()) return status.error();
  if (!plan.slices) {
    if (Status status = removeSlices(plan.data); !status.ok()) return status.error();
    return describe(plan, {});
  }
  const auto slices = makeSlices(slicesOf(plan));
  if (!slices) return slices.error();
  auto cluster = describe(plan, *slices);
  // Why it is not is what there is to say.
  if (!cluster) removeSlices(plan.data).ok();
  return cluster;
}

Status writeSupervisorRecord(const std::string& data, const SupervisorRecord& record) {
  const std::string path = data + "/run/supervisor";
  std::ofstream out(path, std::ios::trunc);
  out << record.pid << " " << record.startTime << " " << record.grace.count() << std::endl;
  if (!out) return invalid(path + ": cannot be written");
  return {};
}

Result<SupervisorRecord> runningSupervisor(const std::string& data) {
  SupervisorRecord record;
  const std::string path = data + "/run/supervisor";
  const kj::AutoCloseFd readable(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (readable.get() < 0 && errno == EACCES) {
    return denied(data + " belongs to another user, and so does a cluster that runs there; use sudo");
  }
  std::ifstream in(path);
  int64_t grace = 0;
  if (in >> record.pid >> record.startTime >> grace && record.pid > 0 &&
      startTimeOf(record.pid) == record.startTime) {
    record.grace = Duration(grace);
    return record;
  }
  return notFound("no cluster is running in " + data);
}

uint64_t startTimeOf(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  // The second field, a name in brackets, may hold spaces and brackets; the 22nd is the start time.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return 0;
  std::stringstream fields(text.substr(close + 2));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;  // ended; only its parent has not looked yet
  for (int i = 4; i <= 22; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

bool isStillEnding(const std::string& data) {
  std::error_code problem;
  for (const auto& monitor : fs::directory_iterator(data + "/monitors", problem)) {
    const kj::AutoCloseFd lock(::open((monitor.path() / kExecutorLock).c_str(), O_RDWR | O_CLOEXEC));
    if (lock.get() >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0) return true;
  }
  return false;
}

}  // namespace tarcil
