#include "monitor/pressure/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tarcil {
namespace {

constexpr size_t kFirstSize = 4096;
constexpr size_t kMaxBytes = 1 << 20;

}  // namespace

Result<std::string_view> KeptFile::read() {
  const auto unreadable = [this] {
    fd_ = nullptr;
    return notFound(path_ + ": " + std::generic_category().message(errno));
  };
  if (fd_.get() < 0) {
    fd_ = kj::AutoCloseFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd_.get() < 0) return unreadable();
  }
  if (buffer_.empty()) buffer_.resize(kFirstSize);
  // Such a file is made anew at each read from its start and has no size, so the text is whole only where one
  // read has room to spare.
  for (;;) {
    size_t size = 0;
    ssize_t got = 0;
    while (size < buffer_.size()) {
      got = ::pread(fd_, buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
      if (got < 0) return unreadable();
      if (got == 0) return std::string_view(buffer_).substr(0, size);
      size += static_cast<size_t>(got);
    }
    if (buffer_.size() >= kMaxBytes) return invalid(path_ + ": longer than any such file is");
    buffer_.resize(buffer_.size() * 4);
  }
}

}  // namespace tarcil
