// The operator's options of late binding. Fixed while a process runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace tarcil::late {

// Agent side.
struct SchedulerOptions {
  // d: reservations for each task, 1 to 100, fractions allowed. Higher: shorter queues, more messages and
  // idle round trips. 2: what Sparrow section 7.9 finds best. A job may set its own.
  double probeRatio = 2.0;

  // Whether d follows the load between these two bounds, for jobs that set none: enough probes to find
  // an idle server for each task, but not so many that asks without a task cost more than the others
  // gain (probe_ratio.h).
  bool adaptRatio = false;
  double leastRatio = 1.1;
  double mostRatio = 3.0;

  // Whether reservations are cancelled once the last task is given away (Sparrow section 3.6). On: no slot
  // waits a round trip for nothing. Off only for comparison.
  bool cancel = true;

  // After this long without news of a job, messages that may have been lost are sent again; then after twice
  // as long each time, up to `mostRepeat`. 500 ms: connections seldom lose anything, and tasks are short.
  Duration repeat = std::chrono::milliseconds(500);
  Duration mostRepeat = std::chrono::seconds(30);
};

// Monitor side.
struct QueueOptions {
  // An Ask is repeated after this long without an answer, and given up after `patience`; then the slot is
  // free. 1 s: a stopped agent must not hold slots, and a slow one should not lose them.
  Duration repeat = std::chrono::milliseconds(200);
  Duration patience = std::chrono::seconds(1);

  // How long a reservation may be passed over because of contention that its tasks do not tolerate; after
  // that it takes any slot. 0: never passed over. 20 ms: a fraction of a short task.
  Duration passOver = std::chrono::milliseconds(20);
  // Pressure by which contention may exceed what is tolerated, 0 to 99 points. 2: within the error of
  // a profile.
  int noiseFloor = 2;
  // How many reservations of one user are examined for a feasible one.
  uint32_t lookahead = 8;

  // Most reservations queued, 1 and up. Further ones are dropped; their agents repeat them.
  uint32_t mostReservations = 100'000;
};

// Monitor side: the units that late-bound tasks run on.
struct PoolOptions {
  // Units are asked for and given back in multiples of this, at least 1. Higher: fewer messages to
  // the master.
  uint32_t block = 2;
  // Bounds of the pool, in units; least <= most.
  uint32_t least = 0;
  uint32_t most = UINT16_MAX;
  // Reservations queued for one task that will run: the probe ratio of the agents. At least 1.
  double reservationsPerTask = 2.0;
  // A pool shrinks to the most that was needed in this long. Higher: fewer requests, more idle units.
  Duration shrinkAfter = std::chrono::seconds(10);
  // How long the next request to grow waits after one that was not granted in full.
  Duration growPause = std::chrono::milliseconds(200);
  // How long a report waits for its answer before it is sent again.
  Duration repeat = std::chrono::seconds(1);
};

// Monitor side: what the master is told of the pressure that late-bound tasks put on a server.
struct ChargeOptions {
  // Time constant: after this long, 63 % of a step have arrived. 1 s: many tasks long.
  Duration smoothing = std::chrono::seconds(1);
  // Points by which some resource has to differ from the reported value while it moves, at least 1. 3: as for
  // the background.
  int threshold = 3;
  // Shortest time between two reports, since each goes to every agent.
  Duration interval = std::chrono::seconds(1);
};

// Client side.
struct ClientOptions {
  Duration heartbeat = std::chrono::milliseconds(30);
  // An agent that is silent for this long is dead. Three heartbeats: together with reconnecting, within
  // 120 ms.
  Duration deadAfter = std::chrono::milliseconds(90);
  // The pause after every agent has failed in turn.
  Duration roundPause = std::chrono::milliseconds(100);
};

// Everything that is wrong with the options, one sentence each: the field, its value and what to write
// instead. Empty if they are valid.
std::vector<std::string> problems(const SchedulerOptions& options);
std::vector<std::string> problems(const QueueOptions& options);
std::vector<std::string> problems(const PoolOptions& options);
std::vector<std::string> problems(const ChargeOptions& options);
std::vector<std::string> problems(const ClientOptions& options);

}  // namespace tarcil::late
