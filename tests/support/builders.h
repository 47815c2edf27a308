// The vocabulary of tests about servers, clusters and jobs. Defaults are the simplest thing that works: an
// idle server that is up, a profile that neither causes nor suffers.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/chooser.h"
#include "core/model/job.h"
#include "core/model/profile.h"
#include "core/state/cluster_state.h"
#include "core/state/occupancy.h"
#include "core/state/server.h"

namespace tarcil {

using Pressures = std::initializer_list<std::pair<Resource, int>>;

// These pressures, 0 elsewhere.
Pressure pressure(Pressures pressures);

// Causes this and tolerates 99 - caused (what is known where only `caused` was measured).
Profile causing(Pressures pressures);

// Causes nothing, tolerates this and everything on the other resources.
Profile tolerating(Pressures pressures);

// Causes the first, tolerates the second and everything on the other resources.
Profile causingAndTolerating(Pressures caused, Pressures tolerated);

// aServer("a").rus(4).platform("haswell").holding(causing({{Resource::kLlc, 60}}))
class ServerBuilder {
 public:
  explicit ServerBuilder(std::string name);

  ServerBuilder& rus(uint32_t count);  // default 4
  ServerBuilder& platform(std::string name);
  ServerBuilder& rack(std::string name);
  ServerBuilder& attribute(std::string name, std::string value);
  ServerBuilder& extra(std::string kind, uint32_t count);
  ServerBuilder& memory(uint64_t bytes);  // not counted by default, as disk
  ServerBuilder& disk(uint64_t bytes);
  ServerBuilder& background(Pressures pressures);
  // A task with this profile on the lowest `units` free units, with the lowest free extras, that asked for
  // these bytes.
  ServerBuilder& holding(const Profile& profile, uint32_t units = 1, const Extras& extras = {},
                         const ByteResources& bytes = {});
  ServerBuilder& strictly();  // the last of these is protected so (JobSpec::isStrict())
  ServerBuilder& down();
  ServerBuilder& cordoned();
  ServerBuilder& removed();  // and down

  const ServerFacts& facts() const { return facts_; }
  const std::vector<Resident>& residents() const { return residents_; }
  // At version 1, with a share of 1.
  ServerStatus status() const;
  ServerUpdate update(ServerId id) const { return {id, facts_, status()}; }

 private:
  ServerFacts facts_;
  ServerStatus status_;
  std::vector<Resident> residents_;
};

inline ServerBuilder aServer(std::string name) {
  return ServerBuilder(std::move(name));
}

// Numbers the servers from 0.
ClusterState aCluster(const std::vector<ServerBuilder>& servers);

// A job of `tasks` tasks with this profile.
JobSpec aJob(uint32_t tasks, const Profile& profile = {});

// Places every task of the job, none of which sits anywhere yet.
PlacementRequest placing(const JobSpec& spec);

}  // namespace tarcil
