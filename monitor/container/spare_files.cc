#include "monitor/container/spare_files.h"

#include <errno.h>
#include <fcntl.h>
#include <kj/io.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tarcil {

SpareFiles::SpareFiles(std::string folder) : folder_(std::move(folder)) {
  ::mkdir(folder_.c_str(), 0700);
  refill();
}

// Cut after it is written: what is within the file's block takes no room, and cutting frees none that is
// in it.
bool SpareFiles::use(const std::string& path, std::string_view text) {
  if (count_ == 0 || text.size() > kBytes) {
    errno = ENOSPC;
    return false;
  }
  const std::string spare = at(count_ - 1);
  const kj::AutoCloseFd fd(::open(spare.c_str(), O_WRONLY | O_CLOEXEC));
  const bool used =
      fd.get() >= 0 && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(fd, static_cast<off_t>(text.size())) == 0 && ::rename(spare.c_str(), path.c_str()) == 0;
  if (used) --count_;
  return used;
}

void SpareFiles::refill() {
  static const char blank[kBytes] = {};
  while (count_ < kMax) {
    const kj::AutoCloseFd fd(::open(at(count_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (fd.get() < 0 || ::pwrite(fd, blank, sizeof blank, 0) != sizeof blank) return;
    ++count_;
  }
}

}  // namespace tarcil
