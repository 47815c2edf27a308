#include "bench/late_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "deploy/local_cluster.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

// Of a process, in microseconds.
double cpuOf(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::stringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  std::string field;
  double ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);
  }
  return ticks * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// One monitor process for so many emulated servers.
RoleCommand emulatedMonitor(const LateClusterPlan& plan, const std::string& data, uint32_t number,
                            uint32_t servers) {
  const std::string name = "monitor-" + std::to_string(number),
                    file = data + "/servers-" + std::to_string(number) + ".yaml";
  std::ofstream out(file);
  out << "servers:\n";
  for (uint32_t i = 0; i < servers; ++i)
    out << "  - {name: s" << number << "-" << i << ", rus: " << plan.slots << "}\n";
  const std::string slots = std::to_string(plan.slots);
  RoleCommand monitor;
  monitor.role = "monitor";
  monitor.name = name;
  monitor.address = "unix:" + data + "/run/" + name + ".sock";
  monitor.log = data + "/log/" + name + ".log";
  monitor.arguments = {"serve",
                       "monitor",
                       "--name",
                       name,
                       "--listen",
                       monitor.address,
                       "--master",
                       "unix:" + data + "/run/master.sock",
                       "--token-file",
                       data + "/tokens/monitor.token",
                       "--data",
                       data + "/monitors/" + name,
                       "--emulate",
                       file,
                       "--late-binding-units",
                       slots,
                       "--late-binding-least",
                       slots};
  return monitor;
}

// Servers split as evenly as can be.
std::vector<RoleCommand> emulatedMonitors(const LateClusterPlan& plan, const std::string& data) {
  std::vector<RoleCommand> monitors;
  for (uint32_t i = 0; i < plan.monitors; ++i) {
    const uint32_t servers = plan.servers * (i + 1) / plan.monitors - plan.servers * i / plan.monitors;
    monitors.push_back(emulatedMonitor(plan, data, i + 1, servers));
  }
  return monitors;
}

}  // namespace

LateCluster::LateCluster(const LateClusterPlan& plan, kj::AsyncIoContext& io)
    : data_(std::filesystem::absolute(plan.data)),
      supervisor_(io.unixEventPort, *io.lowLevelProvider, io.provider->getTimer(), plan.tarcil,
                  [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }) {
  std::filesystem::remove_all(data_);
  std::filesystem::create_directories(data_);
  LocalClusterPlan local;
  local.data = data_;
  local.agents = plan.agents;
  if (plan.isReal) {
    local.servers = plan.servers;
    local.rus = plan.slots;
    local.monitorOptions = {"--late-binding-least", std::to_string(plan.slots)};
  } else {
    local.emulate = data_ + "/servers-1.yaml";
  }
  auto cluster = prepareLocalCluster(local);
  if (!cluster) throw std::runtime_error(cluster.error().message);
  if (!plan.isReal) cluster->stages[1] = emulatedMonitors(plan, data_);
  for (RoleCommand& agent : cluster->stages[2]) {
    agent.arguments.insert(agent.arguments.end(), {"--probe-ratio", std::to_string(plan.probeRatio)});
  }
  addUsers(plan.users);
  agents_ = cluster->context.agents;
  supervisor_.start(cluster->stages).wait(io.waitScope);
}

// The master reads its table when it starts.
void LateCluster::addUsers(uint32_t users) {
  std::ofstream table(data_ + "/master/tokens", std::ios::app);
  for (uint32_t user = 0; user < users; ++user) {
    tokens_.push_back(makeToken());
    table << tokens_.back() << " user-" << user << " submit nobody\n";
  }
  if (!table.flush()) throw std::runtime_error(data_ + "/master/tokens: cannot be written");
}

int LateCluster::pidOf(const std::string& name) const {
  for (const RunningRole& role : supervisor_.roles()) {
    if (role.command.name == name) return role.pid;
  }
  throw std::runtime_error("no process " + name);
}

std::map<std::string, double> LateCluster::cpu() const {
  std::map<std::string, double> cpu;
  for (const RunningRole& role : supervisor_.roles()) cpu[role.command.role] += cpuOf(role.pid);
  return cpu;
}

void LateCluster::stop(kj::WaitScope& waitScope) {
  supervisor_.stop(0 * kj::SECONDS).wait(waitScope);
  std::filesystem::remove_all(data_);
}

}  // namespace tarcil::bench
