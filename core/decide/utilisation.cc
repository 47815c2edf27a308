#include "core/decide/utilisation.h"

#include <algorithm>

namespace tarcil {

void Utilisation::arrival(uint64_t unitsInUse, bool othersWait) {
  const auto units = static_cast<double>(unitsInUse);
  all_ = {all_.units + units, all_.arrivals + 1};
  if (othersWait) whileWaiting_ = {whileWaiting_.units + units, whileWaiting_.arrivals + 1};
  if (all_.arrivals < 2 * kRemembered) return;
  for (Sum* sum : {&all_, &whileWaiting_}) *sum = {sum->units / 2, sum->arrivals / 2};
}

double Utilisation::spare() const {
  if (whileWaiting_.units <= 0) return 1;
  const double load = all_.units / all_.arrivals, capacity = whileWaiting_.units / whileWaiting_.arrivals;
  return std::max(1 - (load / capacity), 1 / (whileWaiting_.arrivals + 1));
}

}  // namespace tarcil
