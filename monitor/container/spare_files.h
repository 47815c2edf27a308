// Files that have their room on the disk already, for what has to be written down when tasks have filled it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tarcil {

class SpareFiles {
 public:
  static constexpr size_t kMax = 16;
  static constexpr size_t kBytes = 4096;  // of each

  // Keeps them in this folder, which is made; what a predecessor left there is used.
  explicit SpareFiles(std::string folder);

  // One of them has this text, of kBytes at most, from now on, and this path, in place of what may have it.
  // Both or neither. False, with errno: none is left, or it cannot be moved there.
  bool use(const std::string& path, std::string_view text);

  // Makes up for those used, as far as the disk has room for them.
  void refill();

 private:
  std::string at(size_t number) const { return folder_ + "/" + std::to_string(number); }

  const std::string folder_;
  size_t count_ = 0;  // those that are there have the numbers below
};

}  // namespace tarcil
