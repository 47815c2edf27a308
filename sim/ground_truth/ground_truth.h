// How fast tasks really run beside one another, and what a scheduler is told of it.
//
// Nothing here uses a formula of core/model or core/decide: a scheduler that only wins on its own model has
// not won. What a scheduler may know of the truth passes through `Belief`, as measurements would bring it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/model/resources.h"
#include "sim/workload/workload.h"

namespace tarcil::sim {

using PlatformNumber = uint16_t;

// Not thread-safe; the same arguments always give the same result.
class GroundTruth {
 public:
  virtual ~GroundTruth() = default;

  // Applications are numbered from 0.
  virtual uint16_t applications() const = 0;

  // How fast a task runs alone on a server of this platform, relative to its best platform: in (0, 1].
  virtual double alone(ApplicationNumber application, PlatformNumber platform) const = 0;

  // No company makes it run faster there, where at most so many tasks share a server, itself among them.
  virtual double fastest(ApplicationNumber application, PlatformNumber platform, uint32_t /*tasks*/) const {
    return alone(application, platform);
  }

  // How fast each of the tasks that share a server runs, in their order; above 0. `tasks` names the
  // application of each.
  virtual void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                      std::span<double> speeds) = 0;

  // Tasks press and suffer differently as they go on: in so many phases, each an equal part of their work.
  virtual uint32_t phases() const { return 1; }
  // What tells speeds() that a task of this application is in this phase; in the first the application
  // itself.
  virtual ApplicationNumber inPhase(ApplicationNumber application, uint32_t /*phase*/) const {
    return application;
  }

  // The same on one server of this platform, where what no job explains may play a part.
  virtual void speedsOn(uint32_t /*server*/, PlatformNumber platform,
                        std::span<const ApplicationNumber> tasks, std::span<double> speeds) {
    this->speeds(platform, tasks, speeds);
  }
};

// What schedulers are told.
struct Belief {
  std::vector<Profile> profiles;  // by application
  std::vector<Share> shares;      // by platform
  // By application: a target of its own. Empty: none has one.
  std::vector<std::optional<double>> targets{};
  // By server: the pressure that no job explains. Empty: there is none.
  std::vector<Pressure> backgrounds{};
};

// The name by which profiles call a platform.
std::string platformName(size_t platform);

}  // namespace tarcil::sim
