// A job's profile made ready for judging slots on every platform; kept, because applications come again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/job.h"
#include "core/state/claim.h"
#include "core/state/cluster_state.h"
#include "core/state/glance.h"

namespace tarcil {

struct PreparedJob {
  // What it was made from.
  Profile profile;
  uint32_t rus = 0;
  Judging judging;
  uint64_t look = 0;  // ClusterState::look() then

  // By platform number.
  std::vector<Newcomer> newcomers;
  std::vector<OwnTask> ownTasks;  // what one of its tasks does to a server
};

// The jobs prepared last, for decisions on one state.
class PreparedJobs {
 public:
  // Ready for every platform of the state. The reference holds until the next call. Some ten nanoseconds
  // where the same profile was asked for lately, else about a hundred for each platform.
  const PreparedJob& prepare(const ClusterState& state, const JobSpec& spec, const Judging& judging);

 private:
  std::vector<PreparedJob> kept_;  // each profile has one place where it may be
};

}  // namespace tarcil
