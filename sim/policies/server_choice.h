// Which server one scheduler that sees the whole cluster gives a task (CentralPolicy).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/rng.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

inline constexpr ServerNumber kNoServer = UINT32_MAX;

struct Choice {
  ServerNumber server = kNoServer;  // none: the task is to wait
  uint64_t looked = 0;              // slots, for the time that it takes
};

class ServerChoice {
 public:
  virtual ~ServerChoice() = default;

  // Of a server without tasks, before all else: so many units are free.
  virtual void hasFree(ServerNumber server, uint32_t units) = 0;
  virtual void taken(TaskNumber task, ServerNumber server) = 0;
  virtual void released(TaskNumber task, ServerNumber server) = 0;

  virtual Choice choose(TaskNumber task) = 0;

  // Tasks of one queue: where the first is to wait, so are the others. One queue for all, unless it is said
  // otherwise.
  virtual uint64_t queueOf(TaskNumber /*task*/) const { return 0; }
  // How long after its arrival a task that waits may find another choice, though nothing has changed.
  virtual std::optional<Duration> boundOf(TaskNumber /*task*/) const { return std::nullopt; }
};

// Any server with the units free: the omniscient scheduler of Sparrow's simulators.
std::unique_ptr<ServerChoice> anyServer(const World& world, Rng rng);

// That with the largest part of its units free.
std::unique_ptr<ServerChoice> leastLoadedServer(const World& world);

}  // namespace tarcil::sim
