// What this machine has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Hardware threads that this process may use; ascending.
std::vector<uint32_t> coresOfThisMachine();

// Those that were asked for, each once and there; all of this machine's where none was. kInvalid names the
// option --cores.
Result<std::vector<uint32_t>> coresToUse(const std::vector<uint32_t>& asked);

// Bytes.
uint64_t memoryOfThisMachine();

// Bytes that are free on the disk of this folder for those who are not root; nothing where the folder cannot
// be reached.
std::optional<uint64_t> freeDiskBytes(const std::string& folder);

}  // namespace tarcil
