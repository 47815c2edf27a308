// What happened on a real cluster while it was watched (`tarcil record`), as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/decide/options.h"
#include "core/model/profile.h"
#include "core/model/resources.h"
#include "sim/event_queue.h"

namespace tarcil::sim {

struct RecordedPlatform {
  std::string name;  // as profiles call it
  Share share = fullShare();

  bool operator==(const RecordedPlatform&) const = default;
};

struct RecordedServer {
  std::string name;
  uint32_t platform = 0;  // its place in Recording::platforms
  uint32_t rus = 1;
  Pressure background{};  // its mean over the time that it was watched

  bool operator==(const RecordedServer&) const = default;
};

// A task that ran: its last attempt, from its start to its end or, where it ran on, to when it was last seen.
struct RecordedTask {
  uint32_t server = 0;  // its place in Recording::servers
  SimTime started{}, ended{};

  bool operator==(const RecordedTask&) const = default;
};

struct RecordedJob {
  SimTime arrival{};  // below 0: it was there before
  uint32_t rus = 1;   // of each task
  uint8_t priority = 50;
  std::optional<Duration> maxWait{};
  std::optional<double> target{};  // else the cluster's
  Profile profile{};
  // Those that ran, in any order.
  std::vector<RecordedTask> tasks;
  // It came while the cluster was watched, and all of its tasks ran and ended.
  bool isWhole = false;

  bool operator==(const RecordedJob&) const = default;
};

// Times count from when the recording began.
struct Recording {
  Duration length{};
  QualitySettings settings;
  std::vector<RecordedPlatform> platforms;
  std::vector<RecordedServer> servers;
  std::vector<RecordedJob> jobs;  // in any order
  // Of the jobs, those that asked for what the simulator has none of: gangs, constraints, spread and
  // the like.
  size_t simplified = 0;
  // Not among the jobs: of them nothing was seen to run.
  size_t neverRan = 0;

  bool operator==(const Recording&) const = default;
};

}  // namespace tarcil::sim
