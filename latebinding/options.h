// What an operator tunes in late binding. Fixed while a process runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace tarcil::late {

// Agent side.
struct SchedulerOptions {
  // d: reservations for each task, 1 to 100, fractions allowed. Higher: better places, more messages and idle
  // round trips. 2: what Sparrow section 7.9 finds best. A job may bring its own.
  double probeRatio = 2.0;

  // Whether d follows the load between these two bounds, where a job brings none: as many probes as find an
  // idle server for each task, but not so many that asks without a task cost more than the others find
  // (probe_ratio.h).
  bool adaptRatio = false;
  double leastRatio = 1.1;
  double mostRatio = 3.0;

  // Whether reservations are cancelled once the last task is given away (Sparrow section 3.6). On: no slot
  // waits a round trip for nothing. Off only for comparison.
  bool cancel = true;

  // After this long without news of a job, what may have been lost is sent again; then after twice as long
  // each time, up to `mostRepeat`. 500 ms: links seldom lose anything, and tasks are short.
  Duration repeat = std::chrono::milliseconds(500);
  Duration mostRepeat = std::chrono::seconds(30);
};

// Monitor side.
struct QueueOptions {
  // An Ask is repeated after so long without an answer, and given up after `patience`; the slot is free then.
  // 1 s: a stopped agent must not hold slots, a slow one shall not lose them.
  Duration repeat = std::chrono::milliseconds(200);
  Duration patience = std::chrono::seconds(1);

  // How long a reservation may be passed over because of contention that its tasks do not bear; after that it
  // takes what there is. 0: never passed over. 20 ms: a fraction of a short task.
  Duration passOver = std::chrono::milliseconds(20);
  // Pressure by which contention may exceed what is tolerated, 0 to 99 points. 2: within the error of a
  // profile.
  int noiseFloor = 2;
  // How many reservations of one user are examined for a feasible one.
  uint32_t lookahead = 8;

  // Reservations that may be queued, 1 and up. One more is dropped; its agent repeats it.
  uint32_t mostReservations = 100'000;
};

// Monitor side: the units that late-bound tasks run on.
struct PoolOptions {
  // Units are asked for and given back in multiples of this, at least 1. Higher: fewer messages to the
  // master.
  uint32_t block = 2;
  // Bounds of the pool, in units; least <= most.
  uint32_t least = 0;
  uint32_t most = UINT16_MAX;
  // Reservations queued for one task that will run: the probe ratio of the agents. At least 1.
  double reservationsPerTask = 2.0;
  // A pool shrinks to the most that was needed in so long a time. Higher: fewer requests, more idle units.
  Duration shrinkAfter = std::chrono::seconds(10);
  // After a request that was not granted in full, the next one to grow waits so long.
  Duration growPause = std::chrono::milliseconds(200);
  // A report without an answer is sent again after so long.
  Duration repeat = std::chrono::seconds(1);
};

// Monitor side: what the master hears of the pressure that late-bound tasks put on a server.
struct ChargeOptions {
  // Time constant: after so long, 63 % of a jump have arrived. 1 s: many tasks long.
  Duration smoothing = std::chrono::seconds(1);
  // Points by which some resource has to be off what was told while it moves, at least 1. 3: as for the
  // background.
  int threshold = 3;
  // Least time between two messages: each goes to every agent.
  Duration interval = std::chrono::seconds(1);
};

// Client side.
struct ClientOptions {
  Duration heartbeat = std::chrono::milliseconds(30);
  // An agent that is silent for so long is dead. Three heartbeats: together with connecting anew, within 120
  // ms.
  Duration deadAfter = std::chrono::milliseconds(90);
  // After every agent has failed in turn, so long a pause.
  Duration roundPause = std::chrono::milliseconds(100);
};

// Everything that is wrong with the options, one sentence each: the field, its value and what to write
// instead. Empty where they can be used.
std::vector<std::string> problems(const SchedulerOptions& options);
std::vector<std::string> problems(const QueueOptions& options);
std::vector<std::string> problems(const PoolOptions& options);
std::vector<std::string> problems(const ChargeOptions& options);
std::vector<std::string> problems(const ClientOptions& options);

}  // namespace tarcil::late
