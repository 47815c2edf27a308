#include "rpc/private_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tarcil {
namespace {

Error fileError(const std::string& path, const char* what) {
  return invalid(path + ": cannot " + what + ": " + strerror(errno));
}

// A file that is there stays its owner's, whoever replaces it.
bool keepOwner(const std::string& from, const std::string& to) {
  struct stat info {};
  if (::stat(from.c_str(), &info) != 0) return errno == ENOENT;
  return (info.st_uid == ::geteuid() && info.st_gid == ::getegid()) ||
         ::chown(to.c_str(), info.st_uid, info.st_gid) == 0;
}

Result<std::string> readUnlessOpenTo(const std::string& path, mode_t forbidden, const char* why) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fileError(path, "be read");
  if ((info.st_mode & forbidden) != 0) return invalid(path + ": " + why + path);
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return fileError(path, "be read");
  return text.str();
}

}  // namespace

Result<std::string> readPrivateFile(const std::string& path) {
  return readUnlessOpenTo(path, 077, "others may read or write it, and it holds a secret; run: chmod 600 ");
}

Result<std::string> readTrustedFile(const std::string& path) {
  return readUnlessOpenTo(path, 022, "others may write it, and what it says is believed; run: chmod go-w ");
}

Status checkOwner(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fileError(path, "be read");
  if (info.st_uid == ::geteuid() || info.st_uid == 0) return {};
  return invalid(path + ": belongs to user id " + std::to_string(info.st_uid) +
                 ", who could say anything in it; run: chown " + std::to_string(::geteuid()) + " " + path);
}

Status writePrivateFile(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fileError(path, "be written");
  const bool written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  const bool closed = ::close(fd) == 0;
  if (!written || !closed) return fileError(path, "be written");
  return {};
}

Result<kj::AutoCloseFd> lockFolder(const std::filesystem::path& folder) {
  std::error_code problem;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), problem);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fileError(folder, "be made");
  kj::AutoCloseFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return fileError(folder, "be opened");
  if (::flock(opened, LOCK_EX) != 0) return fileError(folder, "be locked");
  return opened;
}

Status replacePrivateFile(const std::string& path, const std::string& text, const kj::AutoCloseFd& folder) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // what a crash left
  if (Status written = writePrivateFile(fresh, text); !written) return written;
  if (keepOwner(path, fresh) && ::rename(fresh.c_str(), path.c_str()) == 0 && ::fsync(folder) == 0) return {};
  const Error problem = fileError(path, "be written");
  ::unlink(fresh.c_str());
  return problem;
}

}  // namespace tarcil
