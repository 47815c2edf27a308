// How the roles of a real cluster see a simulated one: its servers, settings and users, what runs there from
// the beginning, and its jobs.
#pragma once

#include <vector>

#include "core/decide/options.h"
#include "core/state/caller.h"
#include "master/logic/events.h"
#include "master/store/store.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/world.h"

namespace tarcil::sim {

// What the master has on disk: settings, shares of platforms and of users.
StoreContents storedSetup(const World& world, const Belief& belief, const QualitySettings& settings);

// The attachment of a monitor that stands for all servers; the master numbers them as the world does.
master::MonitorAttached monitorOf(const World& world, SessionId session);
// What it measures. Requires: the belief has backgrounds.
master::PressureReported backgroundsOf(const Belief& belief, SessionId session);

// Jobs that take the units of residents, one for each application and size of task, in commits that place all
// their tasks. Requires: no other task holds a unit.
std::vector<Commit> residentCommits(const World& world, const Belief& belief);

// Which job and task of the simulation a launch is of.
JobId idOf(JobNumber job);
JobNumber numberOf(const JobId& job);
// Requires: a name that monitorOf() gave.
ServerNumber serverNamed(const std::string& name);

// What is asked of the cluster for each job.
class JobSpecs {
 public:
  JobSpecs(const World& world, const Belief& belief, Policy policy);

  JobSpec of(JobNumber job) const;
  // Who submits it: each stream is a user.
  const Caller& userOf(JobNumber job) const { return users_[world_.job(job).stream]; }

 private:
  const World& world_;
  std::vector<JobSpec> ofApplication_;
  std::vector<Caller> users_;  // by stream
};

}  // namespace tarcil::sim
