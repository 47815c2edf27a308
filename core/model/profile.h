// What is known of an application (docs/design.md).
#pragma once

#include <map>
#include <string>

#include "core/model/profile_origins.h"
#include "core/model/resources.h"

namespace tarcil {

struct Profile {
  std::string application;  // name under which it is stored; may be empty for an inline profile
  Pressure caused{};        // pressure that one task causes on a whole reference server
  // Foreign pressure that it tolerates before its performance falls below its target. All 99 for a job
  // without a profile: it then accepts any slot.
  Pressure tolerated = filled(kMaxPressure);
  // Performance on a platform relative to the application's best one, in (0, 1].
  std::map<std::string, double> platforms;
  // Of caused, tolerated and platforms; decides nothing.
  ProfileOrigins origins{};
  // Not measured: a conservative guess until it is (classifier/assumed_profile.h).
  bool isAssumed = false;

  bool operator==(const Profile&) const = default;

  // Neither what it causes nor what it tolerates: a job without a profile.
  bool isUnknown() const { return caused == Pressure{} && tolerated == filled(kMaxPressure); }

  static constexpr Pressure filled(uint8_t value) {
    Pressure p{};
    p.fill(value);
    return p;
  }
};

// 99 - caused: what is tolerated where only what is caused is known (the paper's assumption).
Pressure toleratedFromCaused(const Pressure& caused);

// demand[i] = 99 - tolerated[i].
Pressure demandOf(const Pressure& tolerated);

// Relative performance on `platform`; an unlisted platform gets the mean of the listed ones, or 1 where none
// is listed.
double platformFactor(const Profile& profile, const std::string& platform);

}  // namespace tarcil
