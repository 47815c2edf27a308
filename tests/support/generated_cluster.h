// Clusters filled by the scheduler itself with mixed jobs, for statistics and benchmarks: what decisions meet
// there is a joint state of servers and residents, not a set of independent random numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/decide/chooser.h"
#include "core/decide/options.h"
#include "core/state/cluster_state.h"
#include "core/state/occupancy.h"

namespace tarcil {

struct GeneratedOptions {
  uint32_t servers = 1'000;
  uint32_t rus = 10;
  uint32_t platforms = 4;  // with shares from 0.5 to 1 and factors from 0.85 to 1
  uint32_t racks = 40;
  uint32_t switches = 0;  // values of an attribute "switch"; 0: servers do not have it
  uint32_t kinds = 60;    // of jobs
  // Mean over kinds and resources of what a full server's tasks cause together: above 99 a server cannot be
  // filled with everything alike.
  double meanSumWhenFull = 60;
  QualitySettings settings{};
  uint64_t seed = 1;
};

class GeneratedCluster {
 public:
  explicit GeneratedCluster(const GeneratedOptions& options);

  // Places tasks of random kinds, and takes random tasks out again, until this share of all units is taken;
  // then goes on for as many placements again, so that the state forgets how it was filled. Stops short where
  // the scheduler finds no more places. Returns the share reached.
  double fillTo(double load, Policy policy = Policy::kQuality);

  ClusterState& state() { return state_; }
  const ClusterState& state() const { return state_; }
  Rng& rng() { return rng_; }

  // A job of a random kind.
  JobSpec job(uint32_t tasks = 1);
  const std::vector<Profile>& kinds() const { return kinds_; }

  // Grants the claims without asking; the job's tasks sit there from now on.
  void place(const JobSpec& spec, const Decision& decision);
  // Takes one random task out and returns its server. Requires: tasks() > 0.
  ServerId endOne();
  size_t tasks() const { return placed_.size(); }
  double load() const;
  // What the tasks of a server press on a resource, in the mean, before it arrives on the platform.
  double meanSum() const;

  // E of every task as it feels now: componentwise, contention as a sum, no margin, whatever model placed it.
  struct Wellbeing {
    double meanE = 0, fifthPercentileE = 0;
    double acceptable = 0;  // share of tasks with E of at least the target of its best platform
  };
  Wellbeing wellbeing() const;

 private:
  struct Placed {
    ServerId server;
    AllocationId allocation;
    uint32_t kind;
  };

  void publish(ServerId server);

  const GeneratedOptions options_;
  Rng rng_;
  Rng jobs_;  // apart, so that clusters of one seed are offered the same jobs whatever becomes of them
  std::vector<Profile> kinds_;
  ClusterState state_;
  Chooser chooser_;
  std::vector<ServerFacts> facts_;
  std::vector<ServerStatus> statuses_;
  std::vector<std::vector<Resident>> residents_;
  std::vector<Placed> placed_;
  AllocationId nextAllocation_ = 1;
  uint64_t units_ = 0;  // taken
};

}  // namespace tarcil
