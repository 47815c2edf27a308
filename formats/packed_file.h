// Files that may be packed by gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Whether a packed file whose end is missing is refused, or read as far as it goes: what a writer that was
// killed left is of use.
enum class CutOff : uint8_t { kRefuse, kAccept };

// The bytes of a file, unpacked where it is packed, whatever its name. Error: kInvalid naming the path and
// what to do, where it cannot be read, is damaged or (unless accepted) cut off, or holds more than
// `mostBytes` unpacked.
Result<std::string> readPackedFile(const std::string& path, size_t mostBytes,
                                   CutOff cutOff = CutOff::kRefuse);

}  // namespace tarcil
