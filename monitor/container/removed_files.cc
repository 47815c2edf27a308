#include "monitor/container/removed_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

namespace tarcil {

bool RemovedFiles::advance(size_t entries) {
  if (!hasBegun_) begin();
  for (; entries > 0; --entries, ++entries_) {
    if (!current_) {
      if (left_.empty()) return true;
      openNext();
    } else if (const dirent* entry = ::readdir(current_.get())) {
      look(entry->d_name);
    } else {
      current_.reset();
    }
  }
  return false;
}

void RemovedFiles::begin() {
  hasBegun_ = true;
  struct statx disk {};
  if (::statx(AT_FDCWD, folder_.c_str(), 0, STATX_BASIC_STATS, &disk) != 0) return;
  major_ = disk.stx_dev_major;
  minor_ = disk.stx_dev_minor;
  std::ifstream in(processes_);
  for (std::string process; in >> process;) {
    left_.push_back("/proc/" + process + "/map_files");
    left_.push_back("/proc/" + process + "/fd");
  }
}

void RemovedFiles::openNext() {
  current_.reset(::opendir(left_.back().c_str()));  // the process may have ended
  left_.pop_back();
}

// Without asking a server of a network file system, which may not answer.
void RemovedFiles::look(const char* link) {
  struct statx file {};
  const int at = ::dirfd(current_.get());
  if (::statx(at, link, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &file) != 0) return;
  const bool isRemoved = S_ISREG(file.stx_mode) && file.stx_nlink == 0;
  if (!isRemoved || file.stx_dev_major != major_ || file.stx_dev_minor != minor_) return;
  if (found_.insert(file.stx_ino).second) bytes_ += file.stx_blocks * 512;
}

}  // namespace tarcil
