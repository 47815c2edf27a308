// Smooths what is measured from one period to the next. Pure.
#pragma once

#include <array>
#include <optional>

#include "core/base/time.h"
#include "monitor/logic/pressure/formulas.h"

namespace tarcil {

// In [0, 99]; nullopt: absent.
using SmoothedPressure = std::array<std::optional<double>, kResources>;

// Time constants: after this long, 63 % of a step have arrived. Higher: calmer; lower: quicker; 0: at once.
struct Smoothing {
  Duration up{}, down{};
};

// Takes what was measured, `since` after the measurement before. A resource that was absent starts over when
// it is back. What is no pressure is clamped; what is not even a number is absent.
void smooth(SmoothedPressure& smoothed, const MeasuredPressure& measured, Duration since,
            const Smoothing& smoothing);

// In whole points; 0 where it is absent.
Pressure rounded(const SmoothedPressure& smoothed);

}  // namespace tarcil
