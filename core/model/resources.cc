#include "core/model/resources.h"

namespace tarcil {

std::optional<Resource> resourceNamed(std::string_view name) {
  for (int i = 0; i < kResources; ++i) {
    if (kResourceNames[static_cast<size_t>(i)] == name) return static_cast<Resource>(i);
  }
  return std::nullopt;
}

}  // namespace tarcil
