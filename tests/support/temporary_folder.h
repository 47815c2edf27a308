// A folder of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tarcil {

// Below /var/tmp, which tasks see too; removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/var/tmp/tarcil-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tarcil
