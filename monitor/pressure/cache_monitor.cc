#include "monitor/pressure/cache_monitor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "monitor/logic/pressure/resctrl_files.h"
#include "monitor/pressure/kept_file.h"

namespace tarcil {
namespace {

// Threads that a task makes while the first are being moved are caught by the second move.
constexpr int kMoves = 2;

template <typename Parse>
auto parsedOnce(const std::string& path, Parse parse) -> decltype(parse(KernelFile{})) {
  KeptFile file(path);
  const auto text = file.read();
  if (!text) return text.error();
  return parse(KernelFile{path, *text});
}

std::vector<std::string> foldersIn(const std::string& folder) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  return folders;
}

// All cache domains of one group together.
Reading<CacheUse> useOf(const std::string& group) {
  CacheUse use;
  const auto domains = foldersIn(group + "/mon_data");
  if (domains.empty()) return notFound(group + "/mon_data: no cache domain");
  for (const std::string& domain : domains) {
    const auto occupied = parsedOnce(domain + "/llc_occupancy", parseCacheNumber);
    if (!occupied) return occupied.error();
    const auto transferred = parsedOnce(domain + "/mbm_total_bytes", parseCacheNumber);
    if (!transferred) return transferred.error();
    use.occupied += *occupied;
    use.transferred += *transferred;
  }
  return use;
}

Status lookFor(const std::string& root) {
  if (::access((root + "/schemata").c_str(), F_OK) != 0) return notFound("resctrl is not mounted");
  return parsedOnce(root + "/info/L3_MON/mon_features", parseCacheFeatures);
}

std::optional<uint64_t> numberAt(const std::string& path) {
  const auto number = parsedOnce(path, onlyNumber);
  return number ? std::optional(*number) : std::nullopt;
}

CacheControls controlsIn(const std::string& root) {
  CacheControls controls;
  controls.leastWays = numberAt(root + "/info/L3/min_cbm_bits");
  // With code and data apart.
  if (!controls.leastWays) controls.leastWays = numberAt(root + "/info/L3DATA/min_cbm_bits");
  const auto least = numberAt(root + "/info/MB/min_bandwidth"),
             step = numberAt(root + "/info/MB/bandwidth_gran");
  if (least && step) controls.bandwidth = {*least, *step};
  const auto readable = parsedOnce(root + "/schemata", [&controls](const KernelFile& file) {
    return limitedSchemata(file, {std::nullopt, controls.bandwidth}, 1, 1);
  });
  if (!readable) controls.bandwidth.reset();
  return controls;
}

// The kernel takes one thread with each write. One that has ended meanwhile is none any more.
void moveThreads(const std::string& from, const std::string& group) {
  const auto threads = parsedOnce(from, parseThreads);
  if (!threads) return;
  for (const uint64_t thread : *threads) std::ofstream(group + "/tasks") << thread << std::flush;
}

}  // namespace

CacheMonitor::CacheMonitor(std::string root, std::string prefix)
    : root_(std::move(root)),
      prefix_(std::move(prefix)),
      there_(lookFor(root_)),
      controls_(controlsIn(root_)) {
  for (const std::string& parent : {root_ + "/mon_groups", root_}) {
    for (const std::string& group : foldersIn(parent)) {
      if (std::filesystem::path(group).filename().string().starts_with(prefix_)) ::rmdir(group.c_str());
    }
  }
}

CacheMonitor::~CacheMonitor() {
  for (const AllocationId task : limited_) ::rmdir(controlGroupOf(task).c_str());
  for (const auto& [task, followed] : followed_) {
    if (followed.made.ok()) ::rmdir(groupOf(task).c_str());
  }
}

void CacheMonitor::follow(AllocationId task, const std::string& threads) {
  if (!there_) return;
  const auto [place, isNew] = followed_.try_emplace(task);
  Followed& followed = place->second;
  if (isNew && ::mkdir(groupOf(task).c_str(), 0700) != 0 && errno != EEXIST) {
    followed.made = notFound("no group of resctrl for it: " + std::generic_category().message(errno));
  }
  if (!followed.made || followed.moves >= kMoves) return;
  ++followed.moves;
  moveThreads(threads, groupOf(task));
}

Status CacheMonitor::limit(AllocationId task, const std::string& threads, double ways, double bandwidth) {
  if (ways == 1 && bandwidth == 1) {
    if (limited_.erase(task) == 0) return {};
    const std::string group = controlGroupOf(task);
    if (const auto use = useOf(group)) departed_ += use->transferred;
    // Its threads go to the root group with it, and are counted apart again.
    ::rmdir(group.c_str());
    if (followed_.erase(task) > 0) follow(task, threads);
    return {};
  }
  const auto schemata = parsedOnce(root_ + "/schemata", [&](const KernelFile& file) {
    return limitedSchemata(file, controls_, ways, bandwidth);
  });
  if (!schemata) return Error{ErrorCode::kUnavailable, schemata.error().message};
  const std::string group = controlGroupOf(task);
  const bool isNew = !limited_.contains(task);
  if (isNew && ::mkdir(group.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kUnavailable,
                 "no group of resctrl for it: " + std::generic_category().message(errno)};
  }
  if (!(std::ofstream(group + "/schemata") << *schemata << std::flush)) {
    if (isNew) ::rmdir(group.c_str());
    return Error{ErrorCode::kUnavailable, "resctrl does not take '" + *schemata + "'"};
  }
  if (isNew) {
    leaveMonitoringGroup(task);
    limited_.insert(task);
    for (int move = 0; move < kMoves; ++move) moveThreads(threads, group);
  }
  return {};
}

// It is counted in its control group from now on.
void CacheMonitor::leaveMonitoringGroup(AllocationId task) {
  const auto followed = followed_.find(task);
  if (followed == followed_.end()) return;
  if (followed->second.made.ok()) {
    if (const auto use = useOf(groupOf(task))) departed_ += use->transferred;
    ::rmdir(groupOf(task).c_str());
  }
  followed->second = {{}, kMoves};
}

void CacheMonitor::forgetAllBut(const std::set<AllocationId>& running) {
  std::erase_if(followed_, [this, &running](const auto& entry) {
    const auto& [task, followed] = entry;
    if (running.contains(task)) return false;
    if (followed.made.ok()) {
      if (const auto use = useOf(groupOf(task))) departed_ += use->transferred;
      ::rmdir(groupOf(task).c_str());
    }
    return true;
  });
  std::erase_if(limited_, [this, &running](AllocationId task) {
    if (running.contains(task)) return false;
    ::rmdir(controlGroupOf(task).c_str());
    return true;
  });
}

Reading<CacheUse> CacheMonitor::task(AllocationId task) const {
  if (!there_) return there_.error();
  const auto found = followed_.find(task);
  if (found == followed_.end()) return notFound("the task is not followed by resctrl");
  if (!found->second.made) return found->second.made.error();
  return useOf(groupOf(task));
}

Reading<CacheUse> CacheMonitor::tasks() const {
  if (!there_) return there_.error();
  CacheUse sum{0, departed_};
  for (const auto& [task, followed] : followed_) {
    const auto use = followed.made.ok() ? useOf(groupOf(task)) : Reading<CacheUse>(followed.made.error());
    if (!use) return use.error();
    sum.occupied += use->occupied;
    sum.transferred += use->transferred;
  }
  return sum;
}

Reading<CacheUse> CacheMonitor::machine() const {
  if (!there_) return there_.error();
  // The root's numbers hold those of its monitoring groups; the other groups with an allocation of their own
  // stand beside it.
  auto sum = useOf(root_);
  if (!sum) return sum;
  for (const std::string& group : foldersIn(root_)) {
    const std::string name = std::filesystem::path(group).filename();
    if (name == "info" || name == "mon_groups" || name == "mon_data") continue;
    auto use = useOf(group);
    if (!use) return use;
    sum->occupied += use->occupied;
    sum->transferred += use->transferred;
  }
  return sum;
}

std::string CacheMonitor::groupOf(AllocationId task) const {
  if (limited_.contains(task)) return controlGroupOf(task);
  return root_ + "/mon_groups/" + prefix_ + std::to_string(task);
}

std::string CacheMonitor::controlGroupOf(AllocationId task) const {
  return root_ + "/" + prefix_ + std::to_string(task);
}

}  // namespace tarcil
