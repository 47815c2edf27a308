// How tasks that are added to a server affect those that run there: the slack and the speed of each before
// and after (docs/design.md, "Residents count too"). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/model/contention.h"
#include "core/model/resources.h"

namespace tarcil {

// A task on a server, as its profile has it for the reference platform.
struct Neighbour {
  Pressure caused{};
  Pressure tolerated{};
};

// A server with its tasks.
struct Neighbourhood {
  std::vector<Neighbour> tasks;
  PressureSum unlisted{};  // caused by other tasks, whose slack is not asked for
  Share share = fullShare();
  Pressure background{};
  ContentionModel model = ContentionModel::kSum;
  int rus = 1;  // units of the server, free or not
};

// One neighbour's slack on each resource: t_p[i] minus the interference from all other tasks and the
// background, in [-99, 99]; below 0 it misses its target. kNoResident where it tolerates any pressure.
struct Impact {
  size_t task = 0;  // position in Neighbourhood::tasks
  PressureSum before{};
  PressureSum after{};
  double satisfactionBefore = 1, satisfactionAfter = 1;  // S, by the model

  bool operator==(const Impact&) const = default;
};

// One entry for each task there, the worst first, where so many newcomers are added that each cause this, for
// the reference platform. O(tasks * log tasks); with ContentionModel::kSlowdowns O(tasks^2).
std::vector<Impact> impactOf(const Neighbourhood& there, const Pressure& caused, uint32_t newcomers = 1);

// Of the resources on which the neighbour loses slack, the one with the least left; nullopt where it
// loses none.
std::optional<size_t> worstLoss(const Impact& impact);

// Whether a suffers more than b: it loses slack and b does not; or it has less left on its worst resource;
// or, with as much left there, it loses more.
bool isWorse(const Impact& a, const Impact& b);

}  // namespace tarcil
