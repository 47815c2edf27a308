// A profile that is kept for whoever submits a job of its application.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/profile.h"

namespace tarcil {

// One time that what is tolerated was lowered, since a task performed badly although interference was less.
struct ProfileLesson {
  WallTime at = kNever;
  Resource resource = Resource::kCore;
  uint8_t from = 0, to = 0;  // tolerated
  uint8_t interference = 0;
  double share = 0;  // of the performance that was expected

  bool operator==(const ProfileLesson&) const = default;
};

inline constexpr size_t kMaxLessons = 50;

struct StoredProfile {
  Profile profile;   // by profile.application, never empty: "sort", or "sort@9.1" for one version of it
  std::string user;  // who stored it
  WallTime stored = kNever;
  uint32_t revision = 1;                 // how often it was stored since it was not there
  std::string note;                      // where it comes from, for people
  std::vector<ProfileLesson> history{};  // since it was stored, the newest last; at most kMaxLessons
  // Counts for the jobs of `user` alone, until an operator promotes it; else for everybody's.
  bool isOwn = false;

  // Whose jobs alone it counts for; empty: everybody's.
  const std::string& owner() const {
    static const std::string kEverybody;
    return isOwn ? user : kEverybody;
  }

  bool operator==(const StoredProfile&) const = default;
};

// The measurement of an application that has no profile yet, by a job that was queued for it.
struct Profiling {
  std::string application;
  JobId job;
  std::string user;       // who submitted it, and in whose name the profile will be stored
  WallTime at = kNever;   // when it was queued; once it has failed, when it did
  std::string problem{};  // why it failed; empty while it is under way

  bool isUnderWay() const { return problem.empty(); }
  bool operator==(const Profiling&) const = default;
};

inline constexpr size_t kMaxStoredProfiles = 10'000;
// Of one who is no operator: nobody owns all names. Measurements that are under way or failed count apart.
inline constexpr size_t kMaxStoredProfilesOfUser = 1'000;
inline constexpr size_t kMaxNoteBytes = 256;
inline constexpr size_t kMaxProfilePlatforms = 100;  // of a stored one

}  // namespace tarcil
