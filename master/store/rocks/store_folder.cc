#include "master/store/rocks/store_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "env/failpoint.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

std::string systemProblem() {
  return std::strerror(errno);
}

// Everything below it that the operating system still holds in memory, and the folder's own entries.
Status syncFileSystem(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::syncfs(fd) == 0 && ::fsync(fd) == 0;
  const std::string problem = synced ? "" : systemProblem();
  if (fd >= 0) ::close(fd);
  if (synced) return {};
  return Error{ErrorCode::kInternal, folder + ": cannot be put on disk: " + problem};
}

// By another process. RocksDB locks with fcntl.
bool isLocked(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool locked = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return locked;
}

Status checkUsable(const fs::path& folder, const fs::path& part) {
  std::error_code problem;
  if (!folder.is_absolute() || !folder.has_filename()) {
    return invalid(folder.string() +
                   ": is not the absolute path of a folder; write one, such as /backups/monday");
  }
  if (!fs::is_directory(folder.parent_path(), problem)) {
    return invalid(folder.string() + ": there is no folder " + folder.parent_path().string() +
                   "; make it first");
  }
  if (fs::exists(folder, problem) && !(fs::is_directory(folder, problem) && fs::is_empty(folder, problem))) {
    return invalid(folder.string() + ": is there already and not empty; name a folder that is not there");
  }
  if (fs::exists(part, problem)) {
    return invalid(part.string() +
                   ": is what an interrupted copy left, or one that is being made; remove it");
  }
  return {};
}

// Without the slash that may have been written at the end.
fs::path withoutSlash(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// `whole`, filled under the name `part`.
Status fillAndName(const fs::path& part, const fs::path& whole,
                   const std::function<Status(const std::string&)>& fill) {
  std::error_code problem;
  Status filled = fill(part);
  if (filled.ok()) {
    fs::permissions(part, fs::perms::owner_all, problem);
    filled = syncFileSystem(part);
  }
  if (!filled.ok()) {
    fs::remove_all(part, problem);
    return filled;
  }
  if (::rename(part.c_str(), whole.c_str()) != 0) {
    const bool mounted = errno == EBUSY;
    const std::string why = systemProblem();
    fs::remove_all(part, problem);
    return invalid(whole.string() + ": cannot be made: " + why +
                   (mounted ? "; a file system is mounted there: name a folder in it" : ""));
  }
  return syncFileSystem(whole.parent_path());
}

}  // namespace

Status makeStoreFolder(const std::string& folder, const std::function<Status(const std::string&)>& fill) {
  const fs::path whole = withoutSlash(folder);
  const fs::path part = whole.string() + ".part";
  if (Status usable = checkUsable(whole, part); !usable) return usable;
  return fillAndName(part, whole, [&fill](const std::string& unnamed) {
    Status filled = fill(unnamed);
    failpoint("master.copy_unnamed");
    return filled;
  });
}

Status beginStoreFolder(const std::string& folder, const std::function<Status(const std::string&)>& fill) {
  const fs::path whole = withoutSlash(fs::absolute(folder));
  const fs::path part = whole.string() + ".new";
  std::error_code problem;
  fs::create_directories(whole, problem);
  if (!problem) fs::remove_all(part, problem);
  if (problem) {
    return invalid(whole.string() + ": cannot be made: " + problem.message() +
                   "; choose a writable --data folder");
  }
  return fillAndName(part, whole, fill);
}

Status copyStoreFiles(const std::string& from, const std::string& to) {
  std::error_code problem;
  fs::create_directory(to, problem);
  fs::permissions(to, fs::perms::owner_all, problem);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, problem)) {
    const std::string name = entry.path().filename().string();
    if (name == "LOCK" || name.starts_with("LOG") || !entry.is_regular_file()) continue;
    fs::copy_file(entry.path(), fs::path(to) / name, problem);
    if (problem)
      return Error{ErrorCode::kInternal, entry.path().string() + ": cannot be copied: " + problem.message()};
  }
  if (problem) return Error{ErrorCode::kInternal, from + ": cannot be copied: " + problem.message()};
  return {};
}

Result<bool> hasStore(const std::string& folder) {
  std::error_code problem;
  if (fs::exists(fs::path(folder) / "CURRENT", problem)) return true;
  if (!fs::exists(folder, problem) || fs::is_empty(folder, problem)) return false;
  return invalid(
      folder +
      ": holds files of a store and not the store: CURRENT is missing. Make a store of a backup with "
      "`tarcil master restore`, or empty the folder to begin anew");
}

Status requireStoreFolder(const std::string& folder) {
  std::error_code problem;
  if (!fs::is_regular_file(fs::path(folder) / "CURRENT", problem)) {
    return invalid(
        folder + ": holds no store; name the folder of a master's store (DATA/master/store) or of a backup");
  }
  if (isLocked(folder + "/LOCK")) {
    return invalid(folder + ": a master uses this store; stop it, or make a backup (`tarcil master backup`)");
  }
  return {};
}

Result<StoreShare> StoreShare::take(const std::string& folder) {
  // Closing any descriptor of the file gives the lock back: it is looked at before it is taken.
  if (const Status usable = requireStoreFolder(folder); !usable) return usable.error();
  kj::AutoCloseFd file(::open((folder + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return StoreShare(kj::mv(file));
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file, F_SETLK, &lock) != 0) {
    return invalid(folder + ": cannot be kept from being written meanwhile: " + systemProblem());
  }
  return StoreShare(kj::mv(file));
}

}  // namespace tarcil
