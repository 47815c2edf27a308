// What every newcomer to a server meets there: small, so that many can be judged out of one cache.
#pragma once

#include <cstdint>

#include "core/model/contention.h"
#include "core/model/resources.h"
#include "core/state/server.h"

namespace tarcil {

// Number of a platform or a rack within one process, dense from 0.
using PlatformId = uint16_t;
using RackId = uint32_t;

// All slots of a server share one contention vector, so there is one of these per server. Two
// fit a cache line; each half can be loaded as one vector of 16 bytes.
struct alignas(32) Vacancy {
  // Slack is kept raised by so much: by how far residents' bounds are overrun counts too, down to -99.
  static constexpr uint8_t kNoSlack = kMaxPressure;
  static constexpr uint8_t kUnbounded = 255;
  // Finite slack is at most what some resident tolerates, so a byte holds more of it than there can be.
  static constexpr uint8_t kMaxSlack = 253;

  Pressure contention{};  // C, background included, without a safety margin
  PlatformId platform = 0;
  uint16_t free = 0;  // units
  uint16_t rus = 0;   // units, free or not
  Pressure slack{};   // what the residents can still bear, plus kNoSlack; kUnbounded where they bear anything
  bool usable = false;  // up and not cordoned
  bool lacksBytes =
      false;  // less memory or disk is left than the share of its free units; kept by ClusterState
  RackId rack = 0;

  bool operator==(const Vacancy&) const = default;
};

static_assert(sizeof(Vacancy) == 32);

// What the residents can still bear: at least 0; Vacancy::kUnbounded where they bear anything.
Pressure slackLeft(const Vacancy& vacancy);

// The status as newcomers meet it; platform and rack are left 0. Pure; O(kResources).
Vacancy vacancyOf(const ServerStatus& status, uint32_t rus, const Share& share, ContentionModel model);

}  // namespace tarcil
