#include "tests/support/etcd_cluster.h"

#include <signal.h>

#include <filesystem>
#include <stdexcept>
#include <thread>

#include "core/base/text.h"
#include "deploy/free_ports.h"

namespace tarcil {
namespace {

constexpr const char* kProgram = "/usr/bin/etcd";

// Where the tests' programs lie below.
std::string moduleFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace

std::string whyNoEtcd() {
  if (!std::filesystem::exists(kProgram))
    return "etcd is not installed; run: scripts/install-packages.sh --dev";
  if (!std::filesystem::exists(moduleFolder() + "/" + etcd::kModuleFile)) {
    return std::string(etcd::kModuleFile) +
           " was not built: gRPC is not installed; run: scripts/install-packages.sh --dev";
  }
  return "";
}

EtcdCluster::EtcdCluster(const EtcdPlan& plan) : plan_(plan), processes_(plan.members) {
  const auto free = freePorts(size_t{plan.members} * 2, "etcd");
  if (!free) throw std::runtime_error(free.error().message);
  const std::vector<uint16_t>& ports = *free;
  for (uint32_t i = 0; i < plan.members; ++i) {
    urls_.push_back(plan.scheme + "://127.0.0.1:" + std::to_string(ports[2 * i]));
    peers_.push_back("http://127.0.0.1:" + std::to_string(ports[2 * i + 1]));
  }
  for (uint32_t i = 0; i < plan.members; ++i) start(i);
  if (plan.scheme == "http") awaitAnswer();
}

std::string EtcdCluster::urlList() const {
  return joined(urls_, ",");
}

std::unique_ptr<etcd::Client> EtcdCluster::client(const etcd::Access& access) {
  auto client = etcd::openClient(access, moduleFolder());
  if (!client) throw std::runtime_error(client.error().message);
  return std::move(*client);
}

void EtcdCluster::kill(uint32_t member) {
  processes_.at(member)->signal(SIGKILL);
  processes_.at(member)->finish();
  processes_.at(member).reset();
}

void EtcdCluster::start(uint32_t member) {
  const std::string name = "m" + std::to_string(member);
  std::vector<std::string> everybody;
  for (uint32_t i = 0; i < plan_.members; ++i) everybody.push_back("m" + std::to_string(i) + "=" + peers_[i]);
  // Its log goes to a file, so that nobody has to read it for it to go on.
  std::vector<std::string> argv = {kProgram,
                                   "--name",
                                   name,
                                   "--data-dir",
                                   folder_.path() + "/" + name,
                                   "--quota-backend-bytes",
                                   std::to_string(plan_.quota),
                                   "--listen-client-urls",
                                   urls_[member],
                                   "--advertise-client-urls",
                                   urls_[member],
                                   "--listen-peer-urls",
                                   peers_[member],
                                   "--initial-advertise-peer-urls",
                                   peers_[member],
                                   "--initial-cluster",
                                   joined(everybody, ","),
                                   "--logger",
                                   "zap",
                                   "--log-level",
                                   "error",
                                   "--log-outputs",
                                   folder_.path() + "/" + name + ".log"};
  argv.insert(argv.end(), plan_.arguments.begin(), plan_.arguments.end());
  processes_[member] = std::make_unique<Process>(argv, Environment{});
}

void EtcdCluster::awaitAnswer() const {
  const auto asked = client();
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < until) {
    if (asked->get({.key = "/"}, std::chrono::seconds(1))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw std::runtime_error("etcd does not answer");
}

std::string EtcdCluster::control(const std::vector<std::string>& words) const {
  std::vector<std::string> argv = {"/usr/bin/etcdctl", "--endpoints", urlList()};
  argv.insert(argv.end(), words.begin(), words.end());
  const ProcessResult result = runProcess(argv, {{"ETCDCTL_API", "3"}});
  if (result.exitCode != 0) throw std::runtime_error("etcdctl: " + result.err);
  return result.out;
}

}  // namespace tarcil
