#include "cli/fetched_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

Failure cannot(const std::string& what, const std::string& path) {
  return {kExitFailed, "cannot " + what + " " + shown(path) + ": " + std::generic_category().message(errno)};
}

Failure isThere(const std::string& path) {
  return {kExitFailed,
          shown(path) + " is there already; --force replaces files, --to DIR puts them elsewhere"};
}

kj::AutoCloseFd openFolderAt(int at, const std::string& name) {
  return kj::AutoCloseFd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The folder that a path leads to, and its last part. Folders that are missing are made if `makes`; else the
// descriptor is none where one is.
std::pair<kj::AutoCloseFd, std::string> folderFor(int top, const std::string& root, const std::string& path,
                                                  bool makes) {
  kj::AutoCloseFd folder = openFolderAt(top, ".");
  size_t from = 0;
  for (size_t slash; (slash = path.find('/', from)) != std::string::npos; from = slash + 1) {
    const std::string name = path.substr(from, slash - from);
    if (makes && ::mkdirat(folder, name.c_str(), 0777) != 0 && errno != EEXIST) {
      throw cannot("make the folder", root + "/" + path.substr(0, slash));
    }
    folder = openFolderAt(folder, name);
    if (folder.get() >= 0) continue;
    if (!makes && errno == ENOENT) break;
    throw Failure(kExitFailed, shown(root + "/" + path.substr(0, slash)) +
                                   " is no folder (links are not followed); remove it, or use --to DIR");
  }
  return {kj::mv(folder), path.substr(from)};
}

}  // namespace

FetchFolder::FetchFolder(std::string path, bool overwrites)
    : path_(std::move(path)), overwrites_(overwrites) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  // The folder itself is the user's own choice, by a link too.
  top_ = kj::AutoCloseFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (top_.get() < 0) throw cannot("open the folder", path_);
}

void FetchFolder::requireFree(const std::string& path) const {
  const auto [folder, name] = folderFor(top_, path_, path, false);
  struct stat status {};
  if (folder.get() < 0 || ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!overwrites_ || S_ISDIR(status.st_mode)) throw isThere(path_ + "/" + path);
}

FetchFolder::File FetchFolder::begin(const std::string& path, bool isProgram) {
  File file;
  auto [folder, name] = folderFor(top_, path_, path, true);
  file.folder_ = kj::mv(folder);
  file.path_ = path_ + "/" + path;
  file.name_ = std::move(name);
  file.overwrites_ = overwrites_;
  const std::string temporary = ".tarcil-fetch-" + std::to_string(::getpid()) + "-" + std::to_string(++made_);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file.file_ = kj::AutoCloseFd(::openat(file.folder_, temporary.c_str(), kFlags, isProgram ? 0755 : 0644));
  if (file.file_.get() < 0) throw cannot("make", file.path_);
  file.temporary_ = temporary;
  return file;
}

FetchFolder::File::~File() noexcept {
  if (folder_.get() >= 0 && !temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
}

void FetchFolder::File::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot("write", path_);
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// Some file systems cannot rename without replacing; there it is looked before.
void FetchFolder::File::keep() {
  const unsigned how = overwrites_ ? 0 : RENAME_NOREPLACE;
  int done = ::renameat2(folder_, temporary_.c_str(), folder_, name_.c_str(), how);
  if (done != 0 && errno == EINVAL && how != 0) {
    if (::faccessat(folder_, name_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) throw isThere(path_);
    done = ::renameat(folder_, temporary_.c_str(), folder_, name_.c_str());
  }
  if (done != 0 && errno == EEXIST) throw isThere(path_);
  if (done != 0) throw cannot("make", path_);
  temporary_.clear();
}

}  // namespace tarcil
