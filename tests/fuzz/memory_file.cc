#include "tests/fuzz/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

namespace tarcil::fuzz {

MemoryFile::MemoryFile(const Bytes& content)
    : fd_(::memfd_create("input", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
  const bool isWritten = fd_ >= 0 && ::fchmod(fd_, 0600) == 0 &&
                         ::write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (!isWritten) throw std::system_error(errno, std::generic_category(), "a file in memory");
}

MemoryFile::~MemoryFile() {
  ::close(fd_);
}

}  // namespace tarcil::fuzz
