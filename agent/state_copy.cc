#include "agent/state_copy.h"

#include <algorithm>
#include <functional>

namespace tarcil::agent {
namespace {

// What of a server decides how well it suits anyone.
struct Look {
  bool usable = false;
  uint32_t rus = 0, free = 0;
  PressureSum sum{}, bound{};
  Pressure background{};
};

Look look(const ClusterState& state, ServerId server) {
  if (!state.known(server)) return {};
  const ServerStatus& status = state.status(server);
  return {.usable = status.up && !status.cordoned,
          .rus = state.facts(server).rus,
          .free = state.freeUnits(server),
          .sum = status.sum,
          .bound = status.bound,
          .background = status.background};
}

// Whether a is less than b anywhere.
template <typename Vector>
bool anyLess(const Vector& a, const Vector& b) {
  return !std::ranges::equal(a, b, std::greater_equal<>());
}

bool isBetter(const Look& before, const Look& after) {
  if (!after.usable || after.free == 0) return false;
  return !before.usable || after.free > before.free || anyLess(after.sum, before.sum) ||
         anyLess(before.bound, after.bound) || anyLess(after.background, before.background);
}

}  // namespace

bool StateCopy::apply(const ServerUpdate& update) {
  if (!state_.known(update.id) && !update.facts) return false;
  Look before = look(state_, update.id);
  state_.apply(update);
  Look after = look(state_, update.id);
  usableUnits_ += after.usable ? after.rus : 0;
  usableUnits_ -= before.usable ? before.rus : 0;
  return isBetter(before, after);
}

}  // namespace tarcil::agent
