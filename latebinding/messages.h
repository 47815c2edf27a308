// What agents and monitors tell each other about tasks that are bound late (Sparrow, SOSP 2013, section 3.5).
//
//   agent                         monitor
//     | -- Reserve (a probe) ------> |   queues a reservation
//     | <------ Ask (get-task) ----- |   a slot is free and held: which task?
//     | -- Give (task or none) ----> |   starts it, or frees the slot
//     | -- Cancel -----------------> |   the job's tasks are all given away
//     | <------ Ended -------------- |   repeated until
//     | -- Forget -----------------> |   it is acknowledged
//     | -- Stop -------------------> |   the job is cancelled: its task is to end
//
// Any message but Look, QueueLength and a bound Reserve may be lost, repeated or delayed: what has to get
// through is repeated, and repeats change nothing. Plain values; a wire format carries them field by field.
//
// A connection between an agent and a monitor is a *session*. When one side considers it lost, both drop what
// depends on it, and no message of it may reach either side any more.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/profile.h"
#include "core/model/resources.h"
#include "core/state/server.h"

namespace tarcil::late {

// An agent's session as a monitor counts them; never used twice by one monitor.
using AgentNumber = uint32_t;

using UserNumber = uint32_t;

// A job within its agent. Never used twice by one agent.
using JobNumber = uint64_t;

// A probe within its job: reservations sent to one server.
using ProbeIndex = uint32_t;

// A slot that a monitor holds for one reservation, from its Ask to the end of the task. Rises, and is never
// used twice for one server, restarts of its monitor included. 0 means none.
using SlotLeaseId = uint64_t;

inline constexpr TaskIndex kNoTask = UINT32_MAX;

// What each task of a job causes and bears (docs/design.md).
struct Bearing {
  Pressure caused{};
  Pressure tolerated = Profile::filled(kMaxPressure);

  bool operator==(const Bearing&) const = default;
};

// --- Agent to monitor

// This many of the job's tasks may run here: the monitor asks as often, each time when a slot is free.
// Repeated while the agent hears nothing; ignored where the probe is queued already.
struct Reserve {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  ProbeIndex probe = 0;
  uint32_t count = 1;
  UserNumber user = 0;
  uint16_t shares = 1;    // of the user, beside others of the same priority; at least 1
  uint8_t priority = 50;  // 0 to 100, higher first
  // Not kNoTask: the task is bound already and starts without an Ask (the policies without late binding).
  TaskIndex task = kNoTask;
  Bearing bearing{};
};

// The job needs nothing more from this probe. Without effect where it is not queued, or an Ask is under way.
struct Cancel {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  ProbeIndex probe = 0;
};

// The answer to an Ask: a task, or kNoTask where the job has none left for this server; what is queued of the
// probe goes then. Repeated until the agent knows that the task started.
struct Give {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  SlotLeaseId lease = 0;
  TaskIndex task = kNoTask;
};

// The lease's task is of no use any more and shall end; Ended says when it has. Without effect where the
// lease runs none. Repeated with the Give that it may have overtaken, until the end is known.
struct Stop {
  AgentNumber agent = 0;
  ServerId server = 0;
  SlotLeaseId lease = 0;
};

// The end of the lease's task is known. The monitor repeats it no more.
struct Forget {
  AgentNumber agent = 0;
  ServerId server = 0;
  SlotLeaseId lease = 0;
};

// How long is the queue? (Per-task and batch sampling, Sparrow sections 3.2 and 3.3.)
struct Look {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  ProbeIndex probe = 0;
};

// --- Monitor to agent

// A slot is held for the reservation: which task? Repeated until it is answered or the monitor gives up.
struct Ask {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  ProbeIndex probe = 0;
  SlotLeaseId lease = 0;
  Duration queued{};  // since the reservation came
};

// The task runs; sent when its Give is repeated.
struct Started {
  AgentNumber agent = 0;
  JobNumber job = 0;
  TaskIndex task = 0;
  SlotLeaseId lease = 0;
};

// The lease's task was not started and never will be: the monitor had given up asking.
struct NotStarted {
  AgentNumber agent = 0;
  JobNumber job = 0;
  TaskIndex task = 0;
  SlotLeaseId lease = 0;
};

// Where the time of a task went (Sparrow Fig. 9).
struct Phases {
  Duration reserve{};  // until the reservation was queued
  Duration queue{};    // until a slot was leased for it
  Duration getTask{};  // until the task was there
  Duration service{};  // until it ended
};

// The lease's task ended. Repeated until Forget.
struct Ended {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  TaskIndex task = 0;
  SlotLeaseId lease = 0;
  int32_t code = 0;  // as the executor gave it
  Duration queue{};  // the monitor's phases
  Duration getTask{};
  Duration service{};
};

struct QueueLength {
  AgentNumber agent = 0;
  ServerId server = 0;
  JobNumber job = 0;
  ProbeIndex probe = 0;
  int32_t length = 0;  // reservations queued or, where slots are free, their number below 0
};

}  // namespace tarcil::late
