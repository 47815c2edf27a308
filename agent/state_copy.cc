#include "agent/state_copy.h"

#include <algorithm>
#include <functional>

namespace tarcil::agent {
namespace {

// Whether a is less than b anywhere.
bool anyLess(const Pressure& a, const Pressure& b) {
  return !std::ranges::equal(a, b, std::greater_equal<>());
}

bool isBetter(const Vacancy& before, const Vacancy& after) {
  if (!after.usable || after.free == 0) return false;
  return !before.usable || after.free > before.free || anyLess(after.contention, before.contention) ||
         anyLess(before.slack, after.slack);
}

}  // namespace

bool StateCopy::apply(const ServerUpdate& update) {
  const bool wasKnown = state_.known(update.id);
  if (!wasKnown && !update.facts) return false;
  const Vacancy before = wasKnown ? state_.vacancy(update.id) : Vacancy{};
  const bool hadExtras = wasKnown && !update.status.freeExtras.empty();
  const auto extrasBefore =
      hadExtras ? state_.status(update.id).freeExtras : decltype(update.status.freeExtras){};
  state_.apply(update);
  const Vacancy& after = state_.vacancy(update.id);
  usableUnits_ += after.usable ? after.rus : 0;
  usableUnits_ -= before.usable ? before.rus : 0;
  const bool otherExtras = hadExtras && update.status.freeExtras != extrasBefore;
  return isBetter(before, after) || (otherExtras && after.usable && after.free > 0);
}

}  // namespace tarcil::agent
