#include "monitor/container/cgroup_tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "core/model/performance.h"
#include "monitor/container/cpu_topology.h"
#include "monitor/container/disk_weights.h"
#include "monitor/logic/cgroup/cgroup_v1.h"
#include "monitor/logic/cgroup/cgroup_v2.h"
#include "monitor/pressure/machine_reader.h"

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

bool asItIs(const std::string&, const std::string&) {
  return true;
}

// Makes the path below the mount; empty if that is not possible.
std::string makeServerDirectory(const std::string& mount, const std::vector<std::string>& path,
                                CgroupTree::Prepare prepare) {
  std::string parent = mount;
  for (const auto& part : path) {
    std::string directory = parent;
    directory.append("/").append(part);
    if (!makeDirectory(directory) || !prepare(parent, directory)) return {};
    parent = std::move(directory);
  }
  return parent;
}

// Whether the directory that was opened is the one that has the name now.
bool hasName(int fd, const std::string& directory) {
  struct stat opened {
  }, there{};
  return ::fstat(fd, &opened) == 0 && ::stat(directory.c_str(), &there) == 0 && opened.st_ino == there.st_ino;
}

// With a lock that others may share; none where the directory is gone.
kj::AutoCloseFd heldDirectory(const std::string& directory) {
  kj::AutoCloseFd held(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held.get() < 0 || ::flock(held, LOCK_SH) != 0 || !hasName(held, directory)) return nullptr;
  return held;
}

// False where somebody holds it, or something is in it, or it is another one by now.
bool removeUnheld(const std::string& directory) {
  const kj::AutoCloseFd held(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return held.get() >= 0 && ::flock(held, LOCK_EX | LOCK_NB) == 0 && hasName(held, directory) &&
         ::rmdir(directory.c_str()) == 0;
}

std::vector<std::string> named(std::vector<std::string> path) {
  for (std::string& part : path) part = cgroupName(part);
  return path;
}

// Lets the children of `directory` use our controllers, each one that can be.
void offerControllers(const std::string& directory) {
  for (const char* controller : {kCpuset, kMemory, kPids, kIo}) {
    writeText(directory + "/cgroup.subtree_control", "+" + std::string(controller));
  }
}

bool isWritable(const std::string& file) {
  return ::access(file.c_str(), W_OK) == 0;
}

// Of memory, and memory with swap, neither may pass the other: which comes first depends on the direction.
Status writeAll(std::vector<CgroupSetting> left) {
  for (int round = 0; round < 2 && !left.empty(); ++round) {
    std::erase_if(left, [](const CgroupSetting& setting) { return writeText(setting.file, setting.value); });
  }
  if (left.empty()) return {};
  return Error{ErrorCode::kInternal, "the kernel does not take '" + left.front().value + "' in " +
                                         left.front().file + ": " + std::generic_category().message(errno)};
}

// While it lives, a task's use of memory is pressed below a limit to come. Version 1 refuses a limit below
// what is in use; version 2 takes it and kills.
class SqueezedMemory {
 public:
  // Empty: there is nothing to be done. 0 bytes: no limit.
  SqueezedMemory(const std::string& directory, uint64_t bytes) {
    if (directory.empty() || bytes == 0) return;
    high_ = directory + "/memory.high";
    writeText(high_, std::to_string(bytes));
    std::istringstream(readText(directory + "/memory.current")) >> current_;
    fits_ = current_ <= bytes;
  }
  ~SqueezedMemory() {
    if (!high_.empty()) writeText(high_, "max");
  }
  SqueezedMemory(const SqueezedMemory&) = delete;
  SqueezedMemory& operator=(const SqueezedMemory&) = delete;

  bool fits() const { return fits_; }

 private:
  std::string high_;
  uint64_t current_ = 0;
  bool fits_ = true;
};

}  // namespace

CgroupTree::CgroupTree(const SystemPaths& paths, std::vector<std::string> path)
    : path_(named(std::move(path))) {
  const CgroupMounts mounts = parseCgroupMounts(readText(paths.mounts));
  for (const auto& [controller, mount] : mounts.v1) {
    if (controller == kCpuacct && !mounts.v2.empty()) continue;  // counted there: each hierarchy takes time
    if (controller == kCpu) {
      cpuMount_ = mount;
      continue;
    }
    const bool cpuset = controller == kCpuset;
    const std::string directory = makeAndHold(mount, cpuset ? fillCpuset : asItIs);
    if (!directory.empty()) v1_.emplace(controller, directory);
  }
  openV2(mounts);
  features_ = featuresHere(readText(paths.swaps));
  chooseWeightFile(mounts, paths.sys);
}

std::string CgroupTree::makeAndHold(const std::string& mount, Prepare prepare) {
  // Another tree that is being removed may take away a directory between its making and the hold.
  constexpr int kMaxTries = 200;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    std::string directory = makeServerDirectory(mount, path_, prepare);
    if (directory.empty()) continue;
    kj::AutoCloseFd held = heldDirectory(directory);
    if (held.get() < 0) continue;
    held_.push_back(kj::mv(held));
    return directory;
  }
  return {};
}

CgroupFeatures CgroupTree::featuresHere(const std::string& swaps) const {
  CgroupFeatures features;
  const bool swap = std::count(swaps.begin(), swaps.end(), '\n') > 1;  // the first line is a heading
  const std::string memory = directoryOf(kMemory), blkio = directoryOf(kBlkio);
  features.limitSwap =
      swap && isWritable(memory.empty() ? v2_ + "/memory.swap.max" : memory + "/memory.memsw.limit_in_bytes");
  features.limitIo = isWritable(blkio.empty() ? v2_ + "/io.max" : blkio + "/blkio.throttle.read_bps_device");
  return features;
}

// The file that does something on the most disks, of several the first.
void CgroupTree::chooseWeightFile(const CgroupMounts& mounts, const std::string& sys) {
  const std::string blkio = directoryOf(kBlkio);
  const std::string ioCost = blkio.empty() ? readText(mounts.v2 + "/io.cost.qos") : "";
  std::optional<std::vector<std::string>> without;
  for (const WeightFile& file : blkio.empty() ? kWeightFilesV2 : kWeightFilesV1) {
    if (!isWritable((blkio.empty() ? v2_ : blkio) + "/" + file.name)) continue;
    auto disks = disksWithout(file, sys, ioCost);
    if (without && disks.size() >= without->size()) continue;
    without = std::move(disks);
    features_.ioWeightFile = file.name;
    features_.mostIoWeight = file.most;
  }
  const size_t all = physicalDisks(sys).size();
  if (!without || (all > 0 && without->size() == all)) {
    missingWeights_ = {"io-weight"};
  } else {
    for (const std::string& disk : *without) missingWeights_.push_back("io-weight:" + disk);
  }
}

std::string CgroupTree::directoryOf(const char* v1Controller) const {
  const auto found = v1_.find(v1Controller);
  return found == v1_.end() ? std::string() : found->second;
}

void CgroupTree::openV2(const CgroupMounts& mounts) {
  if (mounts.v2.empty()) return;
  v2Mount_ = mounts.v2;
  std::set<std::string> wanted;
  for (const auto& controller : parseWords(readText(mounts.v2 + "/cgroup.controllers"))) {
    const bool ours = controller == kCpuset || controller == kMemory || controller == kPids;
    if (ours && !v1_.contains(controller)) wanted.insert(controller);
    if (controller == kIo && !v1_.contains(kBlkio)) wanted.insert(controller);
  }
  offerControllers(mounts.v2);
  v2_ = makeAndHold(mounts.v2, [](const std::string&, const std::string& directory) {
    offerControllers(directory);
    // What protects a task's memory counts only as far as its parents are protected.
    writeText(directory + "/memory.low", "max");
    return true;
  });
  if (v2_.empty()) return;
  for (const auto& controller : parseWords(readText(v2_ + "/cgroup.subtree_control"))) {
    if (wanted.contains(controller)) v2Controllers_.insert(controller);
  }
}

Status CgroupTree::limitMemory(uint64_t bytes) const {
  if (const std::string memory = directoryOf(kMemory); !memory.empty()) {
    return writeAll({memoryLimitV1(memory + "/", bytes)});
  }
  if (v2Controllers_.contains(kMemory)) return writeAll({memoryLimitV2(v2_, bytes)});
  return Error{ErrorCode::kUnavailable, "this machine cannot limit the memory of tasks together"};
}

TaskCgroups CgroupTree::forTask(AllocationId allocation, const TaskLimits& limits) const {
  TaskCgroups result;
  const std::string name = std::to_string(allocation);
  addV1(v1_, name, limits, features_, result);
  addV2(v2_, v2Controllers_, name, limits, features_, result);
  if (!cpuMount_.empty()) result.outputJoins.push_back(cpuMount_ + pathOf(allocation) + "/tasks");
  return result;
}

Status CgroupTree::limit(AllocationId allocation, const TaskLimits& limits) const {
  const std::vector<CgroupSetting> wanted = forTask(allocation, limits).settings;
  std::vector<CgroupSetting> before;
  for (const CgroupSetting& setting : wanted) before.push_back({setting.file, readText(setting.file)});
  const SqueezedMemory memory(v2Controllers_.contains(kMemory) ? v2_ + "/" + std::to_string(allocation) : "",
                              limits.memoryBytes);
  if (!memory.fits()) {
    return Error{ErrorCode::kConflict, "the task uses more memory than the " +
                                           std::to_string(limits.memoryBytes) + " bytes it would have"};
  }
  Status written = writeAll(wanted);
  if (!written.ok()) writeAll(before).ok();
  return written;
}

Status CgroupTree::throttle(AllocationId allocation, const ThrottleLimits& limits) const {
  if (Status limited = limitCpu(allocation, limits.cpuMicros); !limited.ok()) return limited;
  if (limits.disks.empty()) return {};
  if (!features_.limitIo) return Error{ErrorCode::kUnavailable, "this machine cannot limit the use of disks"};
  const std::string blkio = directoryOf(kBlkio), name = "/" + std::to_string(allocation);
  return writeAll(blkio.empty() ? diskLimitV2(v2_ + name, limits.disks, limits.diskBytesPerSecond)
                                : diskLimitV1(blkio + name + "/", limits.disks, limits.diskBytesPerSecond));
}

Status CgroupTree::limitCpu(AllocationId allocation, uint64_t cpuMicros) const {
  if (!cpuMount_.empty()) return limitCpuV1(allocation, cpuMicros);
  const std::string task = v2_ + "/" + std::to_string(allocation);
  if (!isWritable(task + "/cpu.max")) {
    if (cpuMicros == 0) return {};  // it never had a limit
    std::string directory = v2Mount_;
    writeText(directory + "/cgroup.subtree_control", "+cpu");
    for (const std::string& part : path_) {
      directory.append("/").append(part);
      writeText(directory + "/cgroup.subtree_control", "+cpu");
    }
  }
  if (v2_.empty() || !isWritable(task + "/cpu.max")) {
    return Error{ErrorCode::kUnavailable, "this machine has no cpu controller"};
  }
  return writeAll({cpuLimitV2(task, cpuMicros)});
}

// It stays where it is put: without a limit it then has as much weight as one process elsewhere.
Status CgroupTree::limitCpuV1(AllocationId allocation, uint64_t cpuMicros) const {
  const std::string directory = cpuMount_ + pathOf(allocation);
  const bool isThere = isWritable(directory + "/cpu.cfs_quota_us");
  if (!isThere && cpuMicros == 0) return {};  // it never had a limit
  const bool isMade =
      isThere || (!makeServerDirectory(cpuMount_, path_, asItIs).empty() && makeDirectory(directory));
  if (!isMade) {
    return Error{ErrorCode::kUnavailable,
                 "cannot make " + directory + ": " + std::generic_category().message(errno)};
  }
  if (Status written = writeAll(cpuLimitV1(directory + "/", cpuMicros)); !written.ok()) return written;
  moveInto(directory, allocation);
  return {};
}

// What a process starts is where the process is, so that after some rounds none is left behind.
void CgroupTree::moveInto(const std::string& directory, AllocationId allocation) const {
  constexpr int kMaxRounds = 20;
  const std::string from = processesFile(allocation);
  if (from.empty()) return;
  const std::string to = directory + "/cgroup.procs";
  for (int round = 0; round < kMaxRounds; ++round) {
    const std::vector<std::string> there = parseWords(readText(to));
    const std::set<std::string> moved(there.begin(), there.end());
    bool isComplete = true;
    for (const std::string& process : parseWords(readText(from))) {
      if (moved.contains(process)) continue;
      if (writeText(to, process)) isComplete = false;  // else it has ended
    }
    if (isComplete) return;
  }
}

std::string CgroupTree::processesFile(AllocationId allocation) const {
  std::string parent = v2_.empty() ? directoryOf(kCpuacct) : v2_;
  if (parent.empty() && !v1_.empty()) parent = v1_.begin()->second;
  return parent.empty() ? parent : parent + "/" + std::to_string(allocation) + "/cgroup.procs";
}

void CgroupTree::endThrottling() const {
  if (cpuMount_.empty() && !v2_.empty()) writeText(v2_ + "/cgroup.subtree_control", "-cpu");
}

std::string CgroupTree::serverPath() const {
  std::string result;
  for (const std::string& part : path_) result.append("/").append(part);
  return result;
}

std::string CgroupTree::pathOf(AllocationId allocation) const {
  return serverPath() + "/" + std::to_string(allocation);
}

CgroupDirectories CgroupTree::counted() const {
  return {directoryOf(kCpuacct), directoryOf(kMemory), directoryOf(kBlkio), v2_};
}

CgroupDirectories CgroupTree::counted(AllocationId allocation) const {
  CgroupDirectories result = counted();
  for (std::string* directory : {&result.cpuacct, &result.memory, &result.blkio, &result.unified}) {
    if (!directory->empty()) directory->append("/").append(std::to_string(allocation));
  }
  return result;
}

std::vector<std::string> CgroupTree::missing() const {
  std::vector<std::string> result;
  for (const char* controller : {kCpuset, kMemory, kPids}) {
    if (!v1_.contains(controller) && !v2Controllers_.contains(controller)) result.emplace_back(controller);
  }
  result.insert(result.end(), missingWeights_.begin(), missingWeights_.end());
  if (!features_.limitIo) result.emplace_back(kDiskLimit);
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

bool CgroupTree::hasProcesses(AllocationId allocation) const {
  return std::ranges::any_of(parents(), [allocation](const std::string& parent) {
    return !readText(parent + "/" + std::to_string(allocation) + "/cgroup.procs").empty();
  });
}

void CgroupTree::removeUnused() {
  held_.clear();
  for (std::filesystem::path directory : parents()) {
    for (size_t i = 0; i < path_.size() && removeUnheld(directory); ++i) {
      directory = directory.parent_path();
    }
  }
}

std::vector<uint32_t> CgroupTree::coresOf(AllocationId allocation) const {
  const std::string v1 = directoryOf(kCpuset);
  const std::string parent = v1.empty() ? v2_ : v1;
  return parseCoreList(readText(parent + "/" + std::to_string(allocation) + "/cpuset.cpus"));
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
  if (!cpuMount_.empty()) result.insert(cpuMount_ + serverPath());
  return {result.begin(), result.end()};
}

}  // namespace tarcil
