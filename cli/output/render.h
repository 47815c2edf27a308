// Values of the model as JSON (the keys that scripts rely on) and as text for people.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/resources.h"
#include "core/state/server.h"
#include "core/state/server_pressure.h"
#include "formats/json.h"
#include "formats/point_in_time.h"

namespace tarcil {

// --- JSON ---
Json jsonNumber(JobNumber number);  // null where the job has none
Json jsonJob(const JobId& id);      // null where it is not told whose task it is
Json jsonTime(WallTime time);       // ISO 8601, UTC, microseconds; null for kNever
Json jsonByResource(const Pressure& pressure);
Json jsonByResource(const PressureSum& sum);
Json jsonByResource(const Share& share);  // as factors
// Names of resources.
Json namesOf(const ResourceSet& resources);

// By kind, how many countable things the server has and how many of them no task holds.
Json jsonOfExtras(const ServerFacts& facts, const ServerStatus& status);

// --- Text ---
// How much is shown of jobs and times: a job as its number, or 8 digits of its id where it has none, and
// times as "3 min ago"; or all of it, times by the user's clock, by UTC where its zone is not known.
struct Style {
  bool verbose = false;
  LocalClock clock = {};

  std::string job(JobNumber number, const JobId& id) const;
  std::string task(JobNumber number, const JobId& id, TaskIndex task) const;  // "4711.3"
  std::string time(WallTime time) const;                                      // empty for kNever
  // Of what is to come: "in 3 min"; "not known yet" for kNever.
  std::string start(WallTime time) const;

 private:
  std::string shown(WallTime time) const;
};

// With the user's clock.
Style styleFor(bool verbose);

std::string fixed(double value, int decimals);

// Ascending numbers, neighbours joined: "0-3,7".
std::string ranges(const std::vector<RuIndex>& numbers);
std::string ranges(const std::vector<TaskIndex>& numbers);

// "llc 30, memory_bandwidth 12": what is not 0, largest first; empty where nothing is.
std::string pressureText(const Pressure& pressure);
std::string pressureText(const PressureSum& sum);

// "gpus 0-1, licences 3"; empty where nothing is held.
std::string extrasText(const ExtraNumbers& extras);
// "gpus 3 of 4": how many of each kind are free.
std::string extrasText(const ServerFacts& facts, const ServerStatus& status);

// "1 task", "3 tasks".
std::string counted(uint64_t count, const std::string& noun);

}  // namespace tarcil
