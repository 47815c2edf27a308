#include "latebinding/names.h"

namespace tarcil::late {

UserNumber numberOf(std::string_view user) {
  // FNV-1a: the same at every agent, whatever it was built with.
  uint32_t hash = 2'166'136'261u;
  for (const char c : user) hash = (hash ^ static_cast<uint8_t>(c)) * 16'777'619u;
  return hash;
}

}  // namespace tarcil::late
