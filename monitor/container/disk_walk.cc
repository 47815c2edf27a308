#include "monitor/container/disk_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace tarcil {
namespace {

constexpr uint64_t kBlock = 512;  // of st_blocks, whatever the file system's blocks are

uint64_t bytesOf(const struct stat& file) {
  const uint64_t bytes = std::max(static_cast<uint64_t>(file.st_blocks) * kBlock, DiskWalk::kMinFileBytes);
  return S_ISDIR(file.st_mode) ? bytes : bytes / std::max<nlink_t>(file.st_nlink, 1);
}

}  // namespace

bool DiskWalk::advance(size_t entries) {
  left_ = std::min<int64_t>(left_, 0) + static_cast<int64_t>(entries);
  while (left_ > 0) {
    if (!current_ && !openNextTop()) return true;
    spend(1);
    const dirent* entry = ::readdir(current_.get());
    if (entry == nullptr) {
      leave();
    } else if (const std::string_view name = entry->d_name; name != "." && name != "..") {
      look(entry->d_name);
    }
  }
  return false;
}

void DiskWalk::spend(size_t entries) {
  left_ -= static_cast<int64_t>(entries);
  entries_ += entries;
}

DiskWalk::Directory DiskWalk::open(int at, const char* name) {
  const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Directory directory(::fdopendir(fd));
  if (!directory) ::close(fd);
  return directory;
}

bool DiskWalk::isOf(const Directory& directory, const Level& level) const {
  struct stat status {};
  return directory && ::fstat(::dirfd(directory.get()), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == level.inode;
}

bool DiskWalk::openNextTop() {
  while (nextTop_ < tops_.size()) {
    const std::string& top = tops_[nextTop_++];
    current_ = open(AT_FDCWD, top.c_str());
    struct stat status {};
    if (!current_ || ::fstat(::dirfd(current_.get()), &status) != 0) continue;
    device_ = status.st_dev;
    path_.push_back({top, status.st_ino});
    return true;
  }
  current_.reset();
  return false;
}

void DiskWalk::look(const char* name) {
  struct stat status {};
  if (::fstatat(::dirfd(current_.get()), name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (status.st_dev != device_) return;
  bytes_ += bytesOf(status);
  if (S_ISDIR(status.st_mode)) enter(name);
}

void DiskWalk::enter(const char* name) {
  if (path_.size() > kMaxDepth) {
    isTooDeep_ = true;
    return;
  }
  Directory folder = open(::dirfd(current_.get()), name);
  struct stat status {};
  if (!folder || ::fstat(::dirfd(folder.get()), &status) != 0 || status.st_dev != device_) return;
  path_.back().position = ::telldir(current_.get());
  path_.push_back({name, status.st_ino});
  current_ = std::move(folder);
}

// The folder may have been moved away from where it was entered, out of the tree even.
void DiskWalk::leave() {
  path_.pop_back();
  if (path_.empty()) {
    current_.reset();
    return;
  }
  current_ = open(::dirfd(current_.get()), "..");
  if (!isOf(current_, path_.back())) find();
  if (current_) ::seekdir(current_.get(), path_.back().position);
}

// The deepest level that is still where it was; what is below it has gone elsewhere.
void DiskWalk::find() {
  size_t found = 0;
  for (Directory next = open(AT_FDCWD, path_.front().name.c_str()); isOf(next, path_[found]);) {
    current_ = std::move(next);
    if (++found == path_.size()) break;
    next = open(::dirfd(current_.get()), path_[found].name.c_str());
  }
  spend(found);
  path_.resize(found);
  if (found == 0) current_.reset();
}

}  // namespace tarcil
