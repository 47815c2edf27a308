// What trees of files take up on their disk, found out bit by bit: a task may leave any tree.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tarcil {

// Looks at each entry below some folders once. It has one descriptor and, for each level of the tree that it
// is in, a name, however many files there are and however deep they lie; it follows no links and leaves no
// file system. Files may come, go and be moved meanwhile: what is moved while it looks may be missed or
// counted twice. A file with several links counts in parts. Files that were removed and are still open are
// not found. Not for several threads.
class DiskWalk {
 public:
  // What a file counts at least, so that a tree of a bounded size has a bounded number of files.
  static constexpr uint64_t kMinFileBytes = 4096;
  // Twice what a path has room for: deeper folders can be made, but not be named.
  static constexpr size_t kMaxDepth = 4096;

  explicit DiskWalk(std::vector<std::string> tops) : tops_(std::move(tops)) {}

  // Looks at so many entries more, and at fewer the next time if it took more. True once there are none left.
  bool advance(size_t entries);

  // What was looked at takes up so much.
  uint64_t bytes() const { return bytes_; }
  // How often it looked.
  uint64_t entries() const { return entries_; }

  // There are folders deeper than kMaxDepth, which were not looked into.
  bool isTooDeep() const { return isTooDeep_; }

 private:
  struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };
  using Directory = std::unique_ptr<DIR, Close>;

  struct Level {
    std::string name;
    ino_t inode = 0;
    long position = 0;  // behind the entry that was looked at last, while a deeper level is looked at
  };

  static Directory open(int at, const char* name);
  bool isOf(const Directory& directory, const Level& level) const;
  bool openNextTop();
  void spend(size_t entries);
  void look(const char* name);
  void enter(const char* name);
  void leave();
  void find();

  std::vector<std::string> tops_;
  size_t nextTop_ = 0;
  dev_t device_ = 0;
  std::vector<Level> path_;  // from a top down to the folder that is looked at
  Directory current_;        // that folder; null: the next top is due
  int64_t left_ = 0;         // entries of this advance(); below 0: looked at beyond the last one
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
  bool isTooDeep_ = false;
};

}  // namespace tarcil
