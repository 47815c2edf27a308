// What runs of an application were measured to cause, user by user (Tarcil section 5.2, both ways).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "core/model/profile.h"

namespace tarcil {

// Fewer runs than this say nothing yet.
inline constexpr uint32_t kRunsToBelieve = 3;
// Of more runs the latest count most: each has at least the weight of one in so many, so that an application
// that has changed is known anew after some of them.
inline constexpr uint32_t kRunsRemembered = 20;

// The most that each run was charged for of one resource, over the runs.
struct Observation {
  uint32_t runs = 0;
  double mean = 0;
  double variance = 0;

  void add(double charged);
  bool isBelieved() const { return runs >= kRunsToBelieve; }
  double spread() const;  // the standard deviation

  bool operator==(const Observation&) const = default;
};

// By user, so that nobody's runs change what others are charged for, until it is stored for all.
struct ObservedProfile {
  std::string application;  // never empty
  std::string user;
  std::array<Observation, kResources> caused{};
  WallTime last = kNever;  // end of the latest run

  bool isBelieved() const;  // of some resource
  uint32_t runs() const;    // of the resource with the most

  bool operator==(const ObservedProfile&) const = default;
};

// The profile, but caused as observed where that is believed: the mean, rounded up; its error is the spread.
Profile withObserved(Profile profile, const ObservedProfile& observed);

// Of an application of which no more is known: it tolerates what toleratedFromCaused() says.
Profile profileFromObserved(const ObservedProfile& observed);

inline constexpr size_t kMaxObservedProfiles = 10'000;
inline constexpr size_t kMaxObservedProfilesOfUser = 1'000;

}  // namespace tarcil
