// The platforms in what `tarcil profile run` found: where the command was measured, and what that tells of
// the others. Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "classifier/completion.h"
#include "cli/tarcild/profile_report.h"

namespace tarcil {

// A command that ran alone on a server.
struct PlatformRun {
  std::string platform, server;
  double performance = 0;  // in the command's own unit; above 0 and finite
};

// One run for each platform at most.
PlatformSpeeds speedsOf(std::span<const PlatformRun> runs);

// How fast known applications are on these platforms; others are left out, so that nothing is inferred for
// what a cluster does not have.
std::vector<PlatformSpeeds> speedsOn(const std::set<std::string>& platforms,
                                     std::span<const PartialProfile> known);

// Says in every form how fast the command is on each of `platforms`, the best one 1, to the thousandth.
// JSON: `platforms`, that by name, and `platform_entries`, of each: platform, value, origin, expected_error
// (null where measured), and of the measured ones server and performance. Text and file stay as they are
// where there is one platform at most: nothing is relative to it. Requires: forms.yaml is of yamlOf, and says
// nothing of platforms yet.
void addPlatforms(ProfileForms& forms, std::span<const PlatformRun> runs,
                  const std::map<std::string, CompletedPlatform>& platforms);

}  // namespace tarcil
