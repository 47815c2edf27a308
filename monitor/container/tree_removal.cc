#include "monitor/container/tree_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/container/project_quota.h"

namespace tarcil {
namespace {

using Directory = std::unique_ptr<DIR, decltype([](DIR* directory) { ::closedir(directory); })>;

Directory open(int at, const char* name) {
  const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Directory directory(::fdopendir(fd));
  if (!directory) ::close(fd);
  return directory;
}

class FlatRemoval final {
 public:
  explicit FlatRemoval(DIR* top) : top_(::dirfd(top)) {}

  // Each pass removes the folders that the one before moved up.
  void run(DIR* top) {
    bool isDone = false;
    while (!isDone) {
      isDone = true;
      ::rewinddir(top);
      std::vector<std::string> folders;
      while (const dirent* entry = ::readdir(top)) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == ".." || stuck_.contains(std::string(name))) continue;
        if (::unlinkat(top_, entry->d_name, 0) != 0) folders.emplace_back(name);
      }
      for (const std::string& folder : folders) {
        empty(folder);
        if (::unlinkat(top_, folder.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) stuck_.insert(folder);
        isDone = false;
      }
    }
  }

 private:
  void empty(const std::string& folder) {
    const Directory directory = open(top_, folder.c_str());
    if (!directory) return;
    const int at = ::dirfd(directory.get());
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (::unlinkat(at, entry->d_name, 0) == 0 || ::unlinkat(at, entry->d_name, AT_REMOVEDIR) == 0) continue;
      moveUp(at, entry->d_name);
    }
  }

  void moveUp(int from, const char* name) {
    // A name that the task has taken is left to it.
    do {
      const std::string as = ".removed-" + std::to_string(++moved_);
      if (::renameat2(from, name, top_, as.c_str(), RENAME_NOREPLACE) == 0) return;
    } while (errno == EEXIST);
  }

  const int top_;
  uint64_t moved_ = 0;
  std::set<std::string> stuck_;  // could not be removed
};

}  // namespace

bool removeTree(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || ::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  if (const Directory top = open(AT_FDCWD, path.c_str())) {
    stopHandingProjectDown(::dirfd(top.get()));
    FlatRemoval(top.get()).run(top.get());
  }
  return ::rmdir(path.c_str()) == 0;
}

}  // namespace tarcil
