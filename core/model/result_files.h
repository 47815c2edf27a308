// Files that are kept of a task that has ended, for its user: `results` of its job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarcil {

inline constexpr size_t kMaxResultPatterns = 100;  // of a job
inline constexpr size_t kMaxPatternCharacters = 256;
inline constexpr size_t kMaxPatternParts = 16;  // a file, and folders around it

// Of a task.
inline constexpr size_t kMaxResultFiles = 1'000;
inline constexpr uint64_t kMaxResultBytes = uint64_t{64} << 20;
inline constexpr size_t kMaxResultPathBytes = 1'024;

struct ResultFile {
  std::string path;  // relative to the task's working directory; bytes as the file system has them
  uint64_t bytes = 0;
  uint32_t mode = 0;  // permission bits

  bool operator==(const ResultFile&) const = default;
};

// Whether a path stays below the folder that it is taken relative to: not empty, no NUL, and no part that is
// empty, "." or "..".
bool staysInside(std::string_view path);

// What is wrong with an entry of `results`, and what to write instead; empty where it is fine.
std::string whyNotPattern(std::string_view pattern);

}  // namespace tarcil
