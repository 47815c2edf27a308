#include "monitor/container/own_files.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace tarcil {
namespace {

Error unreadable(const std::string& path) {
  return {ErrorCode::kInternal, "cannot read '" + path + "': " + std::generic_category().message(errno)};
}

}  // namespace

std::optional<std::string> readOwnFile(const std::string& path) {
  const kj::AutoCloseFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0) return std::nullopt;
  std::string text;
  char buffer[8192];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(count));
  return count == 0 ? std::optional(std::move(text)) : std::nullopt;
}

WallTime changedAt(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return kNever;
  return WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                  std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
}

Result<std::string> readBytes(const std::string& path, int fd, uint64_t offset, size_t max) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return unreadable(path);
  const auto size = static_cast<uint64_t>(info.st_size);
  max = offset >= size ? 0 : std::min<uint64_t>(max, size - offset);
  std::string text(max, '\0');
  size_t got = 0;
  while (got < max) {
    const ssize_t count = ::pread(fd, text.data() + got, max - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path);
    if (count == 0) break;
    got += static_cast<size_t>(count);
  }
  text.resize(got);
  return text;
}

bool writeOver(int fd, const std::string& text) {
  const ssize_t count = ::pwrite(fd, text.data(), text.size(), 0);
  if (count >= 0 && static_cast<size_t>(count) < text.size()) errno = ENOSPC;
  return count == static_cast<ssize_t>(text.size()) && ::ftruncate(fd, static_cast<off_t>(text.size())) == 0;
}

bool writeOwnFile(const std::string& path, const std::string& text) {
  const kj::AutoCloseFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return fd.get() >= 0 && writeOver(fd, text);
}

bool replaceOwnFile(const std::string& path, const std::string& text) {
  const std::string made = path + ".new";
  return writeOwnFile(made, text) && std::rename(made.c_str(), path.c_str()) == 0;
}

}  // namespace tarcil
