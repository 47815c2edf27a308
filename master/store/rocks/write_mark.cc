#include "master/store/rocks/write_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace tarcil {
namespace {

// Digits, so that each number replaces the whole of the one before, and a newline.
constexpr size_t kBytes = 21;

std::string pathIn(const std::string& folder) {
  return folder + "/written";
}

Error failed(const std::string& path, const char* what) {
  return {ErrorCode::kInternal, path + ": cannot be " + what + ": " + std::strerror(errno)};
}

// 0 for what is no number: an empty file of one that died at once.
uint64_t numberIn(int fd) {
  std::array<char, kBytes> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  uint64_t number = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, number);
  return number;
}

}  // namespace

Result<WriteMark> WriteMark::open(const std::string& folder) {
  const std::string path = pathIn(folder);
  kj::AutoCloseFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (fd.get() < 0) return failed(path, "opened");
  const uint64_t found = numberIn(fd);
  return WriteMark(kj::mv(fd), path, found);
}

Status WriteMark::note(uint64_t sequence) {
  std::array<char, kBytes + 1> text{};
  std::snprintf(text.data(), text.size(), "%020llu\n", static_cast<unsigned long long>(sequence));
  if (::pwrite(fd_, text.data(), kBytes, 0) == static_cast<ssize_t>(kBytes)) return {};
  return failed(path_, "written");
}

uint64_t readWriteMark(const std::string& folder) {
  const kj::AutoCloseFd fd(::open(pathIn(folder).c_str(), O_RDONLY | O_CLOEXEC));
  return fd.get() < 0 ? 0 : numberIn(fd);
}

Status requireWhole(const std::string& folder, uint64_t sequence, uint64_t mark) {
  if (sequence >= mark) return {};
  return Error{
      ErrorCode::kInternal,
      "the store in " + folder + " is damaged: it ends at change " + std::to_string(sequence) +
          ", and was written up to " + std::to_string(mark) +
          ": a write-ahead log (*.log) was removed or cut. Put it back, or make a store of a backup with "
          "`tarcil master restore`; to go on without those changes, remove " +
          pathIn(folder)};
}

}  // namespace tarcil
