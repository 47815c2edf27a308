// Policies of queues at the servers (Sparrow 3.1, 3.2): each task is sent to one server, and waits there for
// its turn. None looks at what runs beside it.
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

enum class Sampling : uint8_t {
  kRandom,  // distinct servers by chance
  // The same, but a server without the units free sends the task back, and it is tried elsewhere: at the
  // bound of kMaxTries it queues where it is.
  kRandomRetry,
  kPerTask,  // each task goes to the less loaded of its own few
  kBatch,    // the m tasks of a job go to the m least loaded of all that were probed for it
};

inline constexpr uint32_t kMaxTries = 10;

struct ServerQueuesOptions {
  Sampling sampling = Sampling::kBatch;
  double probeRatio = 2;  // servers probed for each task
  Duration oneWay = std::chrono::microseconds(500);
  // Of kRandom and kRandomRetry: from a job's arrival until its tasks come to their servers.
  Duration toStart = oneWay;
};

// As in Sparrow's simulators: a probe arrives after one way and sees the free units there or, where there are
// none, the tasks in the queue; the task arrives two ways later. What is on its way is not seen. Servers are
// drawn by their units, so that large ones get their share; those of one job are distinct while there are
// enough. Where servers differ in size, load is counted per unit.
class ServerQueues final : public Scheduler {
 public:
  ServerQueues(World& world, const ServerQueuesOptions& options, Rng rng);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  enum Kind : uint8_t { kProbed, kTaskArrives };

  struct Queue {
    TaskNumber first = kNobody, last = kNobody;
    uint32_t length = 0;
  };
  static constexpr TaskNumber kNobody = UINT32_MAX;

  // Fills drawn_ with so many servers that have `rus` units in all.
  void draw(size_t count, uint32_t rus);
  void place(JobNumber job);
  double loadOf(ServerNumber server, uint32_t rus) const;
  void enqueue(TaskNumber task, ServerNumber server);
  // To a server by chance, in the answer of one that had no room.
  void tryElsewhere(TaskNumber task, uint32_t tries);
  bool hasRoom(TaskNumber task, ServerNumber server) const;
  void startWhatFits(ServerNumber server);

  World& world_;
  const ServerQueuesOptions options_;
  Rng rng_;
  std::vector<ServerNumber> serverOfUnit_;
  std::vector<Queue> queues_;       // by server
  std::vector<TaskNumber> behind_;  // by task: the next in the same queue
  std::vector<uint32_t> drawnFor_;  // by server: the draw that it was last in
  uint32_t draws_ = 0;
  std::vector<ServerNumber> drawn_;
  std::vector<std::pair<double, uint32_t>> loads_;
};

}  // namespace tarcil::sim
