// Files that may be packed by gzip.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// The bytes of a file, unpacked where it is packed, whatever its name. Error: kInvalid naming the path and
// what to do, where it cannot be read, is damaged or cut off, or holds more than `mostBytes` unpacked.
Result<std::string> readPackedFile(const std::string& path, size_t mostBytes);

}  // namespace tarcil
