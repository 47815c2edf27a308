#include "monitor/container/task_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "core/base/whole_number.h"
#include "monitor/container/disk_walk.h"
#include "monitor/container/own_files.h"
#include "monitor/container/task_records.h"
#include "monitor/container/task_results.h"

namespace tarcil {
namespace {

Error failure(const std::string& what, const std::string& path) {
  return {ErrorCode::kInternal,
          "cannot " + what + " '" + path + "': " + std::generic_category().message(errno)};
}

// In `lock` until the shim's own is there. Shorter than any that a shim has: a reader sees either or none.
constexpr const char* kNoPid = "0\n";

std::vector<AllocationId> allocationsIn(const std::string& folder) {
  std::vector<AllocationId> result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (const auto allocation = wholeNumberIn<AllocationId>(name)) result.push_back(*allocation);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// False also for what is no folder.
bool isEmptyFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_empty(path, error) && !error;
}

// Some file systems never make a folder smaller again.
bool hasGrown(const struct stat& folder) {
  return folder.st_size > folder.st_blksize;
}

// With result files.
uint64_t outputBytes(const std::string& directory) {
  uint64_t bytes = 0;
  if (const auto kept = keptResults(directory)) {
    for (const ResultFile& file : kept->files) bytes += std::max(file.bytes, DiskWalk::kMinFileBytes);
  }
  for (const char* name : {"/stdout", "/stderr"}) {
    struct stat status {};
    // What it takes of the disk: the beginning of a long output is dropped.
    if (::stat((directory + name).c_str(), &status) == 0)
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

// Empty where the folder has no record of its launch.
std::string submitterIn(const std::string& folder, AllocationId allocation) {
  const auto bytes = readOwnFile(folder + "/launch");
  const auto spec = bytes ? decodeLaunch(*bytes, allocation) : std::nullopt;
  return spec ? spec->submitter : "";
}

// A predecessor that was killed while it started a shim leaves its descriptors to that shim until its exec,
// which is why a held lock gets a second look.
Result<kj::AutoCloseFd> lockFolder(const std::string& data) {
  const std::string path = data + "/" + kExecutorLock;
  kj::AutoCloseFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return failure("open", path);
  for (int tries = 0; ::flock(lock, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (tries == 100)
      return Error{ErrorCode::kUnavailable, "another monitor uses '" + data + "': stop it first"};
    ::usleep(10'000);
  }
  return lock;
}

}  // namespace

Result<std::unique_ptr<TaskStore>> TaskStore::open(const std::string& dataDirectory, KeepDone keep) {
  for (const char* part : {"", "/tasks", "/done", "/trash"}) {
    const std::string path = dataDirectory + part;
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || ::chmod(path.c_str(), 0700) != 0) {
      if (error) errno = error.value();
      return failure("make the folder", path);
    }
  }
  auto lock = lockFolder(dataDirectory);
  if (!lock) return lock.error();
  return std::unique_ptr<TaskStore>(new TaskStore(dataDirectory, keep, std::move(*lock)));
}

TaskStore::TaskStore(std::string dataDirectory, KeepDone keep, kj::AutoCloseFd lock)
    : data_(std::move(dataDirectory)), lock_(std::move(lock)), spares_(data_ + "/spare"), kept_(keep) {
  settleEarlierBoot();
  loadDone();
  for (const auto& entry : std::filesystem::directory_iterator(data_ + "/trash"))
    sweeper_.remove(entry.path());
}

// The boot is written last: a monitor killed in between leaves it all to its successor.
void TaskStore::settleEarlierBoot() {
  const auto boot = readOwnFile("/proc/sys/kernel/random/boot_id");
  const auto before = readOwnFile(data_ + "/boot");
  if (!boot || before == boot) return;
  for (const AllocationId allocation : before ? tasks() : std::vector<AllocationId>()) {
    if (exit(allocation)) continue;
    const auto record = lostRecord(started(allocation).value_or(kNever), "its server went down while it ran");
    writeOwnFile(file(allocation, "exit"), record);
  }
  // The clock that the lease is told by has begun anew; without a file there is none.
  if (!writeLease(0)) ::unlink(leaseFile().c_str());
  writeOwnFile(data_ + "/boot", *boot);
}

void TaskStore::loadDone() {
  std::vector<KeptTasks::Task> tasks;
  for (const AllocationId allocation : allocationsIn(data_ + "/done")) {
    const std::string folder = keptFolder(allocation);
    tasks.push_back({allocation, submitterIn(folder, allocation), outputBytes(folder), changedAt(folder)});
  }
  std::ranges::stable_sort(tasks, {}, &KeptTasks::Task::since);
  for (KeptTasks::Task& task : tasks) kept_.add(std::move(task));
}

std::string TaskStore::keptFolder(AllocationId allocation) const {
  return data_ + "/done/" + std::to_string(allocation);
}

std::string TaskStore::directory(AllocationId allocation) const {
  return data_ + "/tasks/" + std::to_string(allocation);
}

std::string TaskStore::file(AllocationId allocation, const char* name) const {
  return directory(allocation) + "/" + name;
}

Status TaskStore::record(const LaunchSpec& spec) {
  const std::string folder = directory(spec.allocation);
  if (::access(folder.c_str(), F_OK) == 0) return {};
  const std::string made = data_ + "/trash/next";  // trash indeed, should this process be killed now
  if (auto ready = makeFolder(made, spec.submitter); !ready) return ready;
  const std::string path = made + "/launch";
  if (!writeOwnFile(path, encodeLaunch(spec))) return failure("write", path);
  return ::rename(made.c_str(), folder.c_str()) == 0 ? Status() : failure("make the folder", folder);
}

Status TaskStore::makeFolder(const std::string& path, const std::string& submitter) {
  if (recycleKept(path, submitter) || ::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return failure("make the folder", path);
  throwAway(path);  // of a record that failed half way
  return ::mkdir(path.c_str(), 0700) == 0 ? Status() : failure("make the folder", path);
}

// Only when the next one would be one too many: until then its output is kept.
bool TaskStore::recycleKept(const std::string& path, const std::string& submitter) {
  const auto task = kept_.takeForAnother(submitter);
  if (!task) return false;
  if (::rename(keptFolder(task->allocation).c_str(), path.c_str()) != 0) {
    throwAway(keptFolder(task->allocation));
    return false;
  }
  bool good = ::rename((path + "/exit").c_str(), (path + "/exit.new").c_str()) == 0;
  const std::string results = path + kResultsFolder;
  if (::access(results.c_str(), F_OK) == 0) throwAway(results);
  for (const char* name : {"/units", "/reason", "/overrun", "/image", kResultsList}) {
    good = good && (::unlink((path + name).c_str()) == 0 || errno == ENOENT);
  }
  for (const char* name : {"/stdout", "/stderr"}) {
    good = good && (::truncate((path + name).c_str(), 0) == 0 || errno == ENOENT);
  }
  if (!good) throwAway(path);
  return good;
}

Result<kj::AutoCloseFd> TaskStore::lockForStart(AllocationId allocation) {
  const std::string path = file(allocation, "lock");
  kj::AutoCloseFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (fd.get() < 0) return failure("open", path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorCode::kConflict, "'" + path + "' is held: it runs"};
  if (!writeOver(fd, kNoPid)) return failure("write", path);
  return fd;
}

bool TaskStore::lockHeld(AllocationId allocation) const {
  const kj::AutoCloseFd fd(::open(file(allocation, "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd.get() >= 0 && ::flock(fd, LOCK_SH | LOCK_NB) != 0;
}

std::optional<pid_t> TaskStore::supervisor(AllocationId allocation) const {
  const auto text = readOwnFile(file(allocation, "lock"));
  pid_t pid = 0;
  if (!text || text->empty() || text->back() != '\n') return std::nullopt;
  std::from_chars(text->data(), text->data() + text->size(), pid);
  return pid > 0 ? std::optional(pid) : std::nullopt;
}

Result<kj::AutoCloseFd> TaskStore::makeWork(AllocationId allocation, uid_t uid, gid_t gid) {
  // The mode that programs expect of /tmp; no other user gets there.
  if (auto temporary = makePrivate(file(allocation, "tmp"), uid, gid, 01777); !temporary)
    return temporary.error();
  return makePrivate(file(allocation, "work"), uid, gid, 0700);
}

Result<kj::AutoCloseFd> TaskStore::makePrivate(const std::string& path, uid_t uid, gid_t gid, mode_t mode) {
  struct stat before {};
  const bool there = ::lstat(path.c_str(), &before) == 0;
  if (there && (before.st_uid != uid || hasGrown(before) || !isEmptyFolder(path))) throwAway(path);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failure("make the folder", path);
  kj::AutoCloseFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0 || ::fchown(fd, uid, gid) != 0 || ::fchmod(fd, mode) != 0) {
    return failure("hand over the folder", path);
  }
  return fd;
}

Status TaskStore::writeContainer(AllocationId allocation, const std::string& config) {
  const std::string path = file(allocation, "config.json");
  return writeOwnFile(path, config) ? Status() : failure("write", path);
}

std::optional<LaunchSpec> TaskStore::launch(AllocationId allocation) const {
  const auto bytes = readOwnFile(file(allocation, "launch"));
  auto spec = bytes ? decodeLaunch(*bytes, allocation) : std::nullopt;
  if (!spec || spec->container.image.empty()) return spec;
  if (auto digest = readOwnFile(file(allocation, "image"))) spec->container.imageDigest = std::move(*digest);
  return spec;
}

Status TaskStore::recordImage(AllocationId allocation, const std::string& digest) {
  const std::string path = file(allocation, "image");
  return replaceOwnFile(path, digest) ? Status() : failure("write", path);
}

std::optional<WallTime> TaskStore::started(AllocationId allocation) const {
  const auto text = readOwnFile(file(allocation, "started"));
  return text ? std::optional(parseStarted(*text)) : std::nullopt;
}

std::optional<TaskEnd> TaskStore::exit(AllocationId allocation) const {
  const auto text = readOwnFile(file(allocation, "exit"));
  return text ? parseExitRecord(*text) : std::nullopt;
}

Status TaskStore::recordUnits(AllocationId allocation, const std::vector<RuIndex>& rus) {
  const std::string path = file(allocation, "units");
  const std::string text = unitsRecord(rus);
  return replaceOwnFile(path, text) || spares_.use(path, text) ? Status() : failure("write", path);
}

std::optional<std::vector<RuIndex>> TaskStore::units(AllocationId allocation) const {
  const auto text = readOwnFile(file(allocation, "units"));
  return text ? parseUnitsRecord(*text) : std::nullopt;
}

Status TaskStore::recordReason(AllocationId allocation, EndCause reason) {
  const std::string path = file(allocation, "reason");
  const std::string text = reasonRecord(reason);
  return writeOwnFile(path, text) || spares_.use(path, text) ? Status() : failure("write", path);
}

std::optional<EndCause> TaskStore::reason(AllocationId allocation) const {
  const auto text = readOwnFile(file(allocation, "reason"));
  return text ? parseReasonRecord(*text) : std::nullopt;
}

Status TaskStore::recordOverrun(AllocationId allocation, const std::string& problem) {
  const std::string path = file(allocation, "overrun");
  return writeOwnFile(path, problem) || spares_.use(path, problem) ? Status() : failure("write", path);
}

std::optional<std::string> TaskStore::overrun(AllocationId allocation) const {
  return readOwnFile(file(allocation, "overrun"));
}

// In place: eight bytes of one page are never seen in part.
Status TaskStore::writeLease(int64_t until) {
  const std::string path = leaseFile();
  const kj::AutoCloseFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const bool written = fd.get() >= 0 && ::pwrite(fd, &until, sizeof until, 0) == sizeof until;
  return written ? Status() : failure("write", path);
}

std::vector<AllocationId> TaskStore::tasks() const {
  return allocationsIn(data_ + "/tasks");
}

void TaskStore::forget(AllocationId allocation, WallTime now) {
  const std::string from = directory(allocation);
  const std::string to = keptFolder(allocation);
  for (const char* name : {"/work", "/tmp"}) {
    if (!isEmptyFolder(from + name)) throwAway(from + name);
  }
  const bool there = ::rename(from.c_str(), to.c_str()) == 0 || ::mkdir(to.c_str(), 0700) == 0;
  if (!there) return;
  ::utimensat(AT_FDCWD, to.c_str(), nullptr, 0);  // for a successor, who reads the age there
  kept_.add({allocation, submitterIn(to, allocation), outputBytes(to), now});
  prune(now);
  spares_.refill();
}

std::vector<AllocationId> TaskStore::forgotten() const {
  std::vector<AllocationId> result;
  for (const KeptTasks::Task& task : kept_.all()) result.push_back(task.allocation);
  return result;
}

void TaskStore::discard(AllocationId allocation) {
  throwAway(directory(allocation));
}

void TaskStore::prune(WallTime now) {
  while (const auto task = kept_.takeExcess(now)) throwAway(keptFolder(task->allocation));
}

// Out of sight at once, off the disk later.
void TaskStore::throwAway(const std::string& path) {
  // A name may be taken by what a predecessor with the same pid, as in a container, left to be swept.
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string target =
        data_ + "/trash/" + std::to_string(::getpid()) + "-" + std::to_string(trashed_++);
    if (::rename(path.c_str(), target.c_str()) == 0) return sweeper_.remove(target);
    if (errno != ENOTEMPTY && errno != EEXIST) return;
  }
}

}  // namespace tarcil
