// Which files of a tree match patterns: of a tree that a task left, which may be any.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/result_files.h"
#include "env/clock.h"

namespace tarcil {

// Regular files of one user, by path. Folders are entered only where a pattern leads, so no deeper than
// patterns are; no symbolic link is followed, and no file system left. Of what matches, the first
// kMaxFound paths are remembered and all are counted. Not for several threads.
class ResultSearch {
 public:
  // One more than are kept, to name it.
  static constexpr size_t kMaxFound = kMaxResultFiles + 1;
  // Entries of folders that are looked at, and how long, all trees together. A task's end waits for it.
  static constexpr size_t kMaxEntries = 100'000;
  static constexpr Duration kMaxTime = std::chrono::seconds(10);

  // Requires: whyNotPattern() has nothing against the patterns. `clock` outlives it.
  ResultSearch(const std::vector<std::string>& patterns, uid_t user, const Clock& clock);

  // Searches below the open folder `top` too.
  void look(int top);

  // As they were seen, without their paths.
  const std::map<std::string, ResultFile>& found() const { return found_; }
  // Files that match and are not among them.
  uint64_t more() const { return more_; }
  // It gave up before it had looked at everything.
  bool isCutShort() const { return isCutShort_; }
  // A path that matches and cannot be kept; empty if there is none.
  const std::string& tooLong() const { return tooLong_; }
  const std::string& foreign() const { return foreign_; }  // the file is another user's

 private:
  using Patterns = std::vector<std::vector<std::string>>;  // parts of each
  using Indexes = std::vector<size_t>;                     // of patterns

  bool spend();
  void lookInto(int folder, const std::string& path, size_t depth, const Indexes& active);
  void lookAt(int folder, const std::string& path, const char* name, size_t depth, const Indexes& active);
  void note(const std::string& path, const struct stat& file);

  const Patterns patterns_;
  const uid_t user_;
  const Clock& clock_;
  const MonotonicTime end_;
  size_t entries_ = 0;
  bool isCutShort_ = false;
  std::map<std::string, ResultFile> found_;
  uint64_t more_ = 0;
  std::string tooLong_, foreign_;
};

}  // namespace tarcil
