#include "monitor/container/input_files.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tarcil {
namespace {

Error inputFailure(const std::string& what, const std::string& path) {
  return {ErrorCode::kInternal,
          "cannot " + what + " '" + path + "': " + std::generic_category().message(errno)};
}

// The parts between slashes; empty if the path may lead out of its folder.
std::vector<std::string> partsOf(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= path.size();) {
    const size_t to = std::min(path.find('/', from), path.size());
    parts.push_back(path.substr(from, to - from));
    if (parts.back().empty() || parts.back() == "." || parts.back() == "..") return {};
    from = to + 1;
  }
  const bool nul = path.find('\0') != std::string::npos;
  return nul ? std::vector<std::string>() : parts;
}

Result<kj::AutoCloseFd> openFolder(int parent, const std::string& name, const std::string& path, uid_t uid,
                                   gid_t gid) {
  const bool made = ::mkdirat(parent, name.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return inputFailure("make the folder of input file", path);
  kj::AutoCloseFd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) return inputFailure("open the folder of input file", path);
  if (made && ::fchown(folder, uid, gid) != 0)
    return inputFailure("hand over the folder of input file", path);
  return folder;
}

Status writeContent(int fd, const InputFile& file) {
  for (size_t done = 0; done < file.content.size();) {
    const ssize_t count = ::write(fd, file.content.data() + done, file.content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return inputFailure("write input file", file.path);
    done += static_cast<size_t>(count);
  }
  return {};
}

Status writeInputFile(int directoryFd, const InputFile& file, uid_t uid, gid_t gid) {
  const auto parts = partsOf(file.path);
  if (parts.empty()) {
    return invalid("input file '" + file.path + "': write a relative path without '.' and '..'");
  }
  kj::AutoCloseFd folder;
  int parent = directoryFd;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    auto next = openFolder(parent, parts[i], file.path, uid, gid);
    if (!next) return next.error();
    folder = std::move(*next);
    parent = folder;
  }
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  kj::AutoCloseFd fd(::openat(parent, parts.back().c_str(), kFlags, 0600));
  if (fd.get() < 0) return inputFailure("make input file", file.path);
  if (auto written = writeContent(fd, file); !written) return written;
  // The owner first: a change of owner clears bits of the mode.
  if (::fchown(fd, uid, gid) != 0 || ::fchmod(fd, file.mode & 0777) != 0)
    return inputFailure("hand over", file.path);
  return {};
}

}  // namespace

Status writeInputFiles(int directoryFd, const std::vector<InputFile>& files, uid_t uid, gid_t gid) {
  for (const InputFile& file : files) {
    if (auto written = writeInputFile(directoryFd, file, uid, gid); !written) return written;
  }
  return {};
}

}  // namespace tarcil
