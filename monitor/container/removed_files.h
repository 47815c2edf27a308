// Files that processes have removed and still hold open or map into memory: they take up the disk, and no
// folder shows them.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tarcil {

// Looks at each descriptor and each mapping of some processes once, bit by bit: they may have any number. A
// file that several of them hold counts once. Not for several threads.
class RemovedFiles {
 public:
  // Of the processes that are in the cgroup when advance() is called first, by its file cgroup.procs; none
  // where that is empty. Only files on the disk that `folder` is on count.
  RemovedFiles(std::string processes, std::string folder)
      : processes_(std::move(processes)), folder_(std::move(folder)) {}

  // Looks at so many processes, descriptors and mappings more. True once there are none left.
  bool advance(size_t entries);

  // What was found takes up so much.
  uint64_t bytes() const { return bytes_; }
  // How often it looked.
  uint64_t entries() const { return entries_; }

 private:
  struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };

  void begin();
  void openNext();
  void look(const char* link);

  std::string processes_;
  std::string folder_;
  bool hasBegun_ = false;
  uint32_t major_ = 0, minor_ = 0;       // of the disk
  std::vector<std::string> left_;        // folders of links: the descriptors, the mappings of a process
  std::unique_ptr<DIR, Close> current_;  // the one that is looked at
  std::set<uint64_t> found_;             // inodes
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace tarcil
