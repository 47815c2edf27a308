// What a task of a job is to the server that it is placed on.
#pragma once

#include <utility>
#include <vector>

#include "core/model/job.h"
#include "core/state/occupancy.h"

namespace tarcil::master {

// Charged for what its profile says, until it is measured.
inline Resident residentOf(const JobSpec& spec, AllocationId allocation, std::vector<RuIndex> rus,
                           ExtraNumbers extras) {
  return {.allocation = allocation,
          .rus = std::move(rus),
          .caused = spec.profile.caused,
          .tolerated = spec.profile.tolerated,
          .extras = std::move(extras),
          .request = spec.byteRequest(),
          .isStrict = spec.isStrict()};
}

}  // namespace tarcil::master
