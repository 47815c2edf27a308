// A file of the kernel that is read again and again: opened once, read by pread.
#pragma once

#include <kj/io.h>

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil {

class KeptFile final {
 public:
  explicit KeptFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The whole text as it is now; holds until the next call. kNotFound: it cannot be opened or read; it is
  // tried anew at the next call. kInvalid: it is longer than a mebibyte, as no such file is.
  Result<std::string_view> read();

 private:
  std::string path_;
  kj::AutoCloseFd fd_;
  std::string buffer_;
};

}  // namespace tarcil
