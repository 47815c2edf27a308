#include "monitor/cgroup_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "monitor/cgroup_v1.h"
#include "monitor/cgroup_v2.h"

namespace tarcil {
namespace {

std::string readText(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool writeText(const std::string& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return written;
}

bool makeDirectory(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

// A version 1 cpuset starts with neither cores nor memory nodes, and nothing can join it before it has both.
bool fillCpuset(const std::string& parent, const std::string& directory) {
  for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
    if (!parseWords(readText(directory + file)).empty()) continue;
    if (!writeText(directory + file, readText(parent + file))) return false;
  }
  return writeText(directory + "/cgroup.clone_children", "1");
}

// Makes `<mount>/<group>/<server>`; empty if that is not possible.
std::string makeServerDirectory(const std::string& mount, const std::string& group, const std::string& server,
                                bool (*prepare)(const std::string& parent, const std::string& directory)) {
  std::string parent = mount;
  for (const auto& part : {group, server}) {
    std::string directory = parent;
    directory.append("/").append(part);
    if (!makeDirectory(directory) || !prepare(parent, directory)) return {};
    parent = std::move(directory);
  }
  return parent;
}

// Lets the children of `directory` use our controllers, each one that can be.
void offerControllers(const std::string& directory) {
  for (const char* controller : {kCpuset, kMemory, kPids, kIo}) {
    writeText(directory + "/cgroup.subtree_control", "+" + std::string(controller));
  }
}

}  // namespace

CgroupTree::CgroupTree(const SystemPaths& paths, const std::string& group, const std::string& server) {
  const CgroupMounts mounts = parseCgroupMounts(readText(paths.mounts));
  const std::string groupName = cgroupName(group);
  const std::string serverName = cgroupName(server);
  for (const auto& [controller, mount] : mounts.v1) {
    if (controller == kCpuacct && !mounts.v2.empty()) continue;  // counted there: each hierarchy takes time
    const bool cpuset = controller == kCpuset;
    const auto nothing = [](const std::string&, const std::string&) { return true; };
    const std::string directory =
        makeServerDirectory(mount, groupName, serverName, cpuset ? fillCpuset : nothing);
    if (!directory.empty()) v1_.emplace(controller, directory);
  }
  openV2(mounts, groupName, serverName);
  limitSwap_ = canLimitSwap(readText(paths.swaps));
}

bool CgroupTree::canLimitSwap(const std::string& swaps) const {
  if (std::count(swaps.begin(), swaps.end(), '\n') <= 1) return false;  // the first line is a heading
  const auto v1 = v1_.find(kMemory);
  const std::string file =
      v1 != v1_.end() ? v1->second + "/memory.memsw.limit_in_bytes" : v2_ + "/memory.swap.max";
  return ::access(file.c_str(), W_OK) == 0;
}

void CgroupTree::openV2(const CgroupMounts& mounts, const std::string& group, const std::string& server) {
  if (mounts.v2.empty()) return;
  std::set<std::string> wanted;
  for (const auto& controller : parseWords(readText(mounts.v2 + "/cgroup.controllers"))) {
    const bool ours = controller == kCpuset || controller == kMemory || controller == kPids;
    if (ours && !v1_.contains(controller)) wanted.insert(controller);
    if (controller == kIo && !v1_.contains(kBlkio)) wanted.insert(controller);
  }
  offerControllers(mounts.v2);
  v2_ = makeServerDirectory(mounts.v2, group, server, [](const std::string&, const std::string& directory) {
    offerControllers(directory);
    return true;
  });
  if (v2_.empty()) return;
  for (const auto& controller : parseWords(readText(v2_ + "/cgroup.subtree_control"))) {
    if (wanted.contains(controller)) v2Controllers_.insert(controller);
  }
}

TaskCgroups CgroupTree::forTask(AllocationId allocation, const TaskLimits& limits) const {
  TaskCgroups result;
  const std::string name = std::to_string(allocation);
  addV1(v1_, name, limits, limitSwap_, result);
  addV2(v2_, v2Controllers_, name, limits, limitSwap_, result);
  return result;
}

CgroupDirectories CgroupTree::counted() const {
  const auto directoryOf = [this](const char* controller) {
    const auto found = v1_.find(controller);
    return found == v1_.end() ? std::string() : found->second;
  };
  return {directoryOf(kCpuacct), directoryOf(kMemory), directoryOf(kBlkio), v2_};
}

std::vector<std::string> CgroupTree::missing() const {
  std::vector<std::string> result;
  for (const char* controller : {kCpuset, kMemory, kPids}) {
    if (!v1_.contains(controller) && !v2Controllers_.contains(controller)) result.emplace_back(controller);
  }
  return result;
}

bool CgroupTree::remove(AllocationId allocation) const {
  bool gone = true;
  for (const auto& parent : parents()) {
    const std::string directory = parent + "/" + std::to_string(allocation);
    if (::rmdir(directory.c_str()) != 0 && errno != ENOENT) gone = false;
  }
  return gone;
}

void CgroupTree::removeUnused() const {
  for (const auto& parent : parents()) {
    if (::rmdir(parent.c_str()) == 0) ::rmdir(std::filesystem::path(parent).parent_path().c_str());
  }
}

std::set<AllocationId> CgroupTree::tasks() const {
  std::set<AllocationId> result;
  for (const auto& parent : parents()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
      const std::string name = entry.path().filename();
      AllocationId allocation = 0;
      const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), allocation);
      if (failure == std::errc() && end == name.data() + name.size()) result.insert(allocation);
    }
  }
  return result;
}

std::vector<std::string> CgroupTree::parents() const {
  std::set<std::string> result;
  for (const auto& [controller, directory] : v1_) result.insert(directory);
  if (!v2_.empty()) result.insert(v2_);
  return {result.begin(), result.end()};
}

}  // namespace tarcil
