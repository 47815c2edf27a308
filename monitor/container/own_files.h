// Files in a monitor's data folder, as the monitor reads and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

// All of it, over no link; nullopt if there is no such file or it cannot be read.
std::optional<std::string> readOwnFile(const std::string& path);

// When a file or folder was changed last; kNever where there is none.
WallTime changedAt(const std::string& path);

// At most `max` bytes of an open file from `offset` on, fewer only where it ends. Internal, naming `path`,
// where it cannot be read.
Result<std::string> readBytes(const std::string& path, int fd, uint64_t offset, size_t max);

// Over what an open file holds; in this order, a block that it has already is kept and nothing is freed.
// False, with errno: the disk did not take all of it.
bool writeOver(int fd, const std::string& text);

// The same of a file, which is made where it is missing.
bool writeOwnFile(const std::string& path, const std::string& text);

// The same; the file has all of it, or is as it was.
bool replaceOwnFile(const std::string& path, const std::string& text);

}  // namespace tarcil
