// How a free slot of a server looks to a job. The one function that agents judge with and that the master
// checks with, so they can only disagree about what has changed (design 6).
#pragma once

#include "core/model/quality.h"
#include "core/model/residents.h"
#include "core/state/claim.h"
#include "core/state/server.h"

namespace tarcil {

struct SlotView {
  Pressure contention{};  // C as the newcomer feels it, without the safety margin
  Judgement judgement;
  PressureSum slack{};  // what the residents can still bear
  int broken =
      -1;  // resource on which the newcomer would break a resident; -1: none, or neighbours do not count
};

// Judges the next slot of a server with this status for a newcomer. Platform and units come from `facts`,
// `job` is the newcomer as that platform sees it. Pure; O(kResources).
SlotView viewSlot(const JobView& job, const Judging& judging, const ServerFacts& facts,
                  const ServerStatus& status, const Share& share);

}  // namespace tarcil
