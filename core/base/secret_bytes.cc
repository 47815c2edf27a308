#include "core/base/secret_bytes.h"

#include <cstring>

namespace tarcil {

void overwrite(std::span<uint8_t> bytes) {
  if (bytes.empty()) return;
  std::memset(bytes.data(), 0, bytes.size());
  // Whoever reads memory behind the program's back is to see it: the compiler may not leave it out.
  __asm__ __volatile__("" : : "r"(bytes.data()) : "memory");
}

}  // namespace tarcil
