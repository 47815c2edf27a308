// What runs of an application were measured to cause and how well they performed, user by user (Tarcil
// section 5.2, both ways). That a task is held against earlier runs of its application is CPI2's (Zhang et
// al., EuroSys 2013, section 3.1), there by job and platform over a fleet.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/performance.h"
#include "core/model/profile.h"
#include "core/state/stored_profile.h"

namespace tarcil {

// Fewer runs than this say nothing yet.
inline constexpr uint32_t kRunsToBelieve = 3;
// Of more runs the latest count most: each has at least the weight of one in so many, so that an application
// that has changed is known anew after some of them.
inline constexpr uint32_t kRunsRemembered = 20;

// A number of each run, over the runs.
struct Observation {
  uint32_t runs = 0;
  double mean = 0;
  double variance = 0;

  void add(double value);
  bool isBelieved() const { return runs >= kRunsToBelieve; }
  double spread() const;  // the standard deviation

  bool operator==(const Observation&) const = default;
};

// How well the tasks of an application performed that had so many units of one platform.
struct ObservedPerformance {
  std::string platform;
  Metric metric = Metric::kReported;
  uint32_t rus = 0;  // resource units of a task
  Observation reached{};
  WallTime last = kNever;  // end of the latest run

  bool operator==(const ObservedPerformance&) const = default;
};

inline constexpr size_t kMaxObservedPerformances = 64;  // of one application and user

// By user, so that nobody's runs change what others are charged for, until it is stored for all.
struct ObservedProfile {
  std::string application;  // never empty
  std::string user;
  std::array<Observation, kResources> caused{};     // the most that each run was charged for
  std::vector<ObservedPerformance> performances{};  // at most kMaxObservedPerformances
  WallTime last = kNever;                           // end of the latest run

  bool isBelieved() const;  // what is caused of some resource
  uint32_t runs() const;    // of the resource with the most

  // One more run. Where there are kMaxObservedPerformances of other kinds, the one observed longest ago goes.
  // Requires: finite, not negative.
  void addPerformance(const std::string& platform, Metric metric, uint32_t rus, double reached, WallTime now);

  bool operator==(const ObservedProfile&) const = default;
};

// The profile, but caused as observed where that is believed: the mean, rounded up; its error is the spread.
Profile withObserved(Profile profile, const ObservedProfile& observed);

// Of an application of which no more is known: it tolerates what toleratedFromCaused() says.
Profile profileFromObserved(const ObservedProfile& observed);

// What a job gets that names the application: the profile that is stored for all, with what was observed of
// its user's runs; where none is stored, what these make of it. Requires: one of the two is not null.
Profile knownProfile(const StoredProfile* stored, const ObservedProfile* observed);

// What can be expected of a task with so many units, by platform, where enough runs were watched by the
// goal's metric: the mean; where runs differ, as much less that a task is degraded only below all but the
// worst fortieth of them, two standard deviations (CPI2 section 4.1). Only platforms of which it is above 0.
std::map<std::string, double> expectedAfter(const ObservedProfile& observed, const PerformanceGoal& goal,
                                            uint32_t rus);

inline constexpr size_t kMaxObservedProfiles = 10'000;
inline constexpr size_t kMaxObservedProfilesOfUser = 1'000;

}  // namespace tarcil
