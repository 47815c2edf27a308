// An input as a file that only this process can open.
#pragma once

#include <string>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

class MemoryFile final {
 public:
  explicit MemoryFile(const Bytes& content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const int fd_;
  const std::string path_;
};

}  // namespace tarcil::fuzz
