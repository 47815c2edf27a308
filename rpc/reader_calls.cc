#include "rpc/reader_calls.h"

namespace tarcil {
namespace {

// As types.capnp has it; the compiler makes no constant of it.
constexpr uint64_t kForReaders = 0xc1d0a7e4b6f3925b;

}  // namespace

std::vector<bool> methodsForReaders(const capnp::InterfaceSchema& interface) {
  std::vector<bool> forReaders;
  for (const auto method : interface.getMethods()) {
    bool isMarked = false;
    for (const auto annotation : method.getProto().getAnnotations())
      isMarked = isMarked || annotation.getId() == kForReaders;
    forReaders.push_back(isMarked);
  }
  return forReaders;
}

}  // namespace tarcil
