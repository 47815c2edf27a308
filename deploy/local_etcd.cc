#include "deploy/local_etcd.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/text.h"
#include "deploy/free_ports.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "/usr/bin/etcd";
constexpr size_t kMembers = 3;

std::string folderIn(const std::string& data) {
  return data + "/etcd";
}

std::string portsFile(const std::string& data) {
  return folderIn(data) + "/ports";
}

// Two of each member: for clients and for the others.
Result<std::vector<uint16_t>> portsIn(const std::string& data) {
  const std::string path = portsFile(data);
  std::vector<uint16_t> ports;
  if (std::ifstream in(path); in) {
    for (uint16_t port = 0; in >> port;) ports.push_back(port);
    if (ports.size() != 2 * kMembers)
      return invalid(path + ": does not hold " + std::to_string(2 * kMembers) + " ports");
    for (const uint16_t port : ports) {
      const auto free = freePort(port, "etcd");
      if (!free) return free.error();
      if (*free != port) {
        return invalid(path + ": port " + std::to_string(port) +
                       " of 127.0.0.1, which is a member's of etcd, is taken by another program; stop that");
      }
    }
    return ports;
  }
  auto chosen = freePorts(2 * kMembers, "etcd");
  if (!chosen) return chosen.error();
  std::ofstream out(path);
  for (const uint16_t port : *chosen) out << port << "\n";
  out.flush();
  if (!out) return invalid(path + ": cannot be written");
  return chosen;
}

std::string urlAt(uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

}  // namespace

bool hasLocalEtcd(const std::string& data) {
  return fs::exists(portsFile(data));
}

Result<LocalEtcd> describeLocalEtcd(const std::string& data) {
  if (!fs::exists(kProgram)) {
    return invalid(std::string("--etcd local: there is no ") + kProgram +
                   "; install Debian's package etcd-server, or name the URLs of another etcd");
  }
  std::error_code problem;
  fs::create_directories(folderIn(data), problem);
  fs::permissions(folderIn(data), fs::perms::owner_all, problem);
  if (problem) return invalid(folderIn(data) + ": cannot be made: " + problem.message());
  const auto ports = portsIn(data);
  if (!ports) return ports.error();
  LocalEtcd etcd;
  std::string everybody;
  for (size_t i = 0; i < kMembers; ++i) {
    const std::string separator = i == 0 ? "" : ",";
    etcd.urls += separator + urlAt((*ports)[2 * i]);
    everybody += separator + "etcd-" + std::to_string(i + 1) + "=" + urlAt((*ports)[2 * i + 1]);
  }
  for (size_t i = 0; i < kMembers; ++i) {
    RoleCommand member{.role = "etcd",
                       .name = "etcd-" + std::to_string(i + 1),
                       .address = urlAt((*ports)[2 * i]),
                       .metrics = "",
                       .arguments = {},
                       .networkNamespace = "",
                       .log = ""};
    const std::string peer = urlAt((*ports)[2 * i + 1]);
    member.program = kProgram;
    member.arguments = {"--name",
                        member.name,
                        "--data-dir",
                        folderIn(data) + "/" + member.name,
                        "--listen-client-urls",
                        member.address,
                        "--advertise-client-urls",
                        member.address,
                        "--listen-peer-urls",
                        peer,
                        "--initial-advertise-peer-urls",
                        peer,
                        "--initial-cluster",
                        everybody,
                        "--logger",
                        "zap",
                        "--log-level",
                        "warn",
                        "--log-outputs",
                        "stderr"};
    member.log = data + "/log/" + member.name + ".log";
    etcd.members.push_back(std::move(member));
  }
  return etcd;
}

}  // namespace tarcil
