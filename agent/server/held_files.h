// Input files of submissions that are on their way to the master.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

// Bytes, by sizeOf(): as much as four jobs may ship, and four such users.
struct HeldFileBounds {
  uint64_t ofUser = uint64_t{256} << 20;
  uint64_t inAll = uint64_t{1} << 30;
};

using InputFiles = std::shared_ptr<const std::vector<InputFile>>;

// Single-threaded.
class HeldFiles final {
 public:
  explicit HeldFiles(HeldFileBounds most = {}) : most_(most), held_(std::make_shared<Held>()) {}

  // Counted for the user until the last copy of what is returned is gone. Exhausted where that would be too
  // much.
  Result<InputFiles> hold(const std::string& user, std::vector<InputFile> files);

  uint64_t bytes() const { return held_->bytes; }

 private:
  struct Held {
    uint64_t bytes = 0;
    std::map<std::string, uint64_t> ofUser;  // none is 0
  };

  const HeldFileBounds most_;
  const std::shared_ptr<Held> held_;  // outlives this where files do
};

}  // namespace tarcil
