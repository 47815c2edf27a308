// A profile as it was found: as the file that `tarcil submit` takes, as text for people, as JSON.
#pragma once

#include <string>
#include <vector>

#include "classifier/completion.h"
#include "formats/json.h"
#include "profiler/calibration.h"
#include "profiler/profile_command.h"

namespace tarcil {

struct ProfileReport {
  std::string application;
  std::vector<std::string> command;
  std::string unit;  // of performance
  Findings findings;
  CompletedProfile completed;
  std::vector<std::string> warnings;
};

// What `tarcil profile run` found, in each form that it can be asked for.
struct ProfileForms {
  Json json;
  std::string text;
  std::string yaml;  // a profile file
};

// With a comment behind each entry that says where it comes from. An entry of which nothing is known is left
// out, and platforms are: a machine of its own does not know of them (cli/tarcild/profile_platforms.h).
std::string yamlOf(const ProfileReport& report);

std::string textOf(const ProfileReport& report);

// Keys: application, command, performance, caused, tolerated, entries, seconds, warnings.
Json jsonOf(const ProfileReport& report);

// Keys: alone, unit (of that), run_seconds, runs, spread. What `performance` holds.
Json jsonOf(const AloneRun& alone, const std::string& unit);

// Dials, contention and cross-talk as tables.
std::string textOf(const Calibration& calibration);

}  // namespace tarcil
