#include "master/store/rocks/next_store.h"

#include <fcntl.h>
#include <kj/io.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tarcil {
namespace {

namespace fs = std::filesystem;

// RocksDB locks so.
struct flock writeLock() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string lockFile(const std::string& store) {
  return store + "/LOCK";
}

// A name that is not taken yet.
std::string formerName(const std::string& store, WallTime now) {
  const std::string name =
      store + ".before-" +
      std::to_string(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
  std::string free = name;
  for (int i = 1; fs::exists(free); ++i) free = name + "-" + std::to_string(i);
  return free;
}

Error failure(const std::string& what) {
  return {ErrorCode::kInternal, what + ": " + std::generic_category().message(errno)};
}

}  // namespace

std::string nextStore(const std::string& store) {
  return store + ".next";
}

Result<std::optional<std::string>> takeNextStore(const std::string& store, WallTime now) {
  const std::string next = nextStore(store);
  if (!fs::exists(next)) return std::optional<std::string>();
  std::string former;
  if (fs::exists(store)) {
    const kj::AutoCloseFd held(::open(lockFile(store).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    auto lock = writeLock();
    if (held.get() < 0) return failure("cannot open " + lockFile(store));
    if (::fcntl(held, F_SETLK, &lock) != 0)
      return Error{ErrorCode::kConflict, store + ": another master uses this store; stop it first"};
    former = formerName(store, now);
    if (::rename(store.c_str(), former.c_str()) != 0) return failure("cannot rename " + store);
  }
  if (::rename(next.c_str(), store.c_str()) != 0) return failure("cannot rename " + next);
  const kj::AutoCloseFd parent(
      ::open(fs::path(store).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || ::fsync(parent) != 0) return failure(store + " cannot be put on disk");
  return std::optional(former);
}

std::optional<pid_t> userOfStore(const std::string& store) {
  const kj::AutoCloseFd file(::open(lockFile(store).c_str(), O_RDWR | O_CLOEXEC));
  auto lock = writeLock();
  if (file.get() < 0 || ::fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

}  // namespace tarcil
