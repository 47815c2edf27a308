#include "core/state/job_state.h"

#include <array>

namespace tarcil {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 7> kRunStateNames = {"queued", "starting",  "running", "done",
                                                            "failed", "cancelled", "lost"};

}  // namespace

std::string_view name(RunState state) {
  return kRunStateNames[static_cast<size_t>(state)];
}

std::optional<RunState> runStateNamed(std::string_view name) {
  for (size_t i = 0; i < kRunStateNames.size(); ++i) {
    if (kRunStateNames[i] == name) return static_cast<RunState>(i);
  }
  return std::nullopt;
}

}  // namespace tarcil
