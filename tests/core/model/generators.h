// RapidCheck generators for the values of core/model.
#pragma once

#include <rapidcheck.h>

#include "core/model/profile.h"
#include "core/model/resources.h"

namespace tarcil {

// A pressure in [0, 99]; extremes are frequent, so that ties and clamping are.
inline rc::Gen<uint8_t> aPressureValue() {
  return rc::gen::map(rc::gen::oneOf(rc::gen::inRange(0, 100), rc::gen::element(0, 1, 98, 99)),
                      [](int value) { return static_cast<uint8_t>(value); });
}

inline rc::Gen<Pressure> aPressure() {
  return rc::gen::container<Pressure>(aPressureValue());
}

// From nothing to twice what arrives on the reference platform.
inline rc::Gen<Share> aShare() {
  return rc::gen::container<Share>(
      rc::gen::map(rc::gen::oneOf(rc::gen::inRange(0, 2 * kShareUnit + 1),
                                  rc::gen::element(0, kShareUnit / 2, int{kShareUnit})),
                   [](int value) { return static_cast<uint16_t>(value); }));
}

// A sum of the pressures of up to a few hundred tasks.
inline rc::Gen<PressureSum> aSum() {
  return rc::gen::container<PressureSum>(rc::gen::inRange(0, 30'000));
}

inline rc::Gen<Profile> aProfile() {
  return rc::gen::apply(
      [](const Pressure& caused, const Pressure& tolerated) {
        Profile profile;
        profile.caused = caused;
        profile.tolerated = tolerated;
        return profile;
      },
      aPressure(), aPressure());
}

}  // namespace tarcil
