#include "shim/output_file.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "shim/error_text.h"
#include "shim/sys.h"

namespace tarcil {
namespace {

// Of a path that may be longer than a message.
constexpr size_t kShownCharacters = 1000;

// EFIVARFS_MAGIC, the one interface of the kernel's that says it has room.
constexpr auto kFirmwareVariables = static_cast<decltype(statfs::f_type)>(0xde5e81e4);

}  // namespace

bool OutputFile::open(bool isNew, Problem& problem) {
  open_how how{};
  // Not O_TRUNC: whether it may be emptied is known when it is open. A pipe without a reader fails.
  how.flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.mode = 0644;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long opened = sys::call(SYS_openat2, AT_FDCWD, path_, &how, sizeof how);
  fd_ = static_cast<int>(opened);
  const char* reason = opened < 0 ? nullptr : whyNotThis();
  const long emptied = opened >= 0 && reason == nullptr && isNew ? sys::call(SYS_ftruncate, fd_, 0) : 0;
  if (opened >= 0 && reason == nullptr && emptied >= 0) return true;
  if (opened >= 0) sys::close(fd_);
  problem.clear();
  problem << "cannot write to '";
  for (size_t i = 0; path_[i] != '\0' && i < kShownCharacters; ++i) problem.add(path_[i]);
  problem << "' (" << field_ << " of the job): ";
  if (reason != nullptr) {
    problem << reason;
  } else {
    problem << Failure{opened < 0 ? opened : emptied};
  }
  return false;
}

// Of files that set up the machine root needs no capability to write some. Their file systems have no room.
const char* OutputFile::whyNotThis() const {
  struct stat status {};
  struct statfs system {};
  if (sys::call(SYS_fstat, fd_, &status) < 0 || !S_ISREG(status.st_mode)) return "Not a regular file";
  const bool isKnown = sys::call(SYS_fstatfs, fd_, &system) == 0;
  const bool isOfADisk = isKnown && system.f_blocks != 0 && system.f_type != kFirmwareVariables;
  return isOfADisk ? nullptr : "Not a file of a disk";
}

void OutputFile::write(const char* data, uint64_t size) {
  for (uint64_t done = 0; done < size && cut_.empty();) {
    const long count = sys::write(fd_, data + done, size - done);
    if (count <= 0) {
      Text<64> reason;
      reason << Failure{count < 0 ? count : -ENOSPC};
      return cutHere(reason.get());
    }
    done += static_cast<uint64_t>(count);
    written_ += static_cast<uint64_t>(count);
  }
}

void OutputFile::cutHere(const char* reason) {
  if (!cut_.empty()) return;
  cut_ << "the file of " << field_ << " cut after " << written_ << " bytes: " << reason;
}

}  // namespace tarcil
