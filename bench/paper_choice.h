// Placement by the quality of Tarcil alone, as its section 3 prints it: for comparison.
#pragma once

#include "core/decide/chooser.h"

namespace tarcil::bench {

enum class Eq5 : uint8_t {
  kPrinted,    // Q = T_W - U_H where the target is missed
  kCorrected,  // Q = U_H there
};

// Draws `ratio` slots a task and takes those of the highest Q, whatever S they have, whatever it does to
// their residents and to each other; contention as the state forms it. At most one claim a task.
Decision chooseByQ(const ClusterState& state, const JobSpec& spec, Eq5 formula, uint32_t ratio,
                   uint64_t seed);

}  // namespace tarcil::bench
