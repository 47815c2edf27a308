#include "core/state/caller.h"

#include <array>

namespace tarcil {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 5> kRoleNames = {"submit", "operate", "agent", "monitor", "read"};

}  // namespace

std::string_view name(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

std::optional<Role> roleNamed(std::string_view name) {
  for (size_t i = 0; i < kRoleNames.size(); ++i) {
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

}  // namespace tarcil
