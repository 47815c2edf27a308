@0xb6f1d1a3c0e94a08;
# Late binding: what agents, monitors and clients tell each other about tasks of milliseconds (docs/late-binding.md).
#
# Many small things are told, so they travel in batches: a call brings all that its sender has to say, its answer what the
# other side says to that at once, and whatever comes up later is in a call of the other side's. What each message means, and
# what holds when it is repeated or late, is in latebinding/messages.h; the field names are the same.
#
# A session lasts as long as the connection over which it was opened. When a call in it fails, its caller takes it for lost
# and drops the connection; what is said in a session that is over is refused as Conflict and has no effect.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";

# --- Agents and monitors

interface LateMonitorPort {
  tell @0 (news :LateAgentNews) -> (news :LateMonitorNews);
  # Ends of tasks that are not forgotten are told again when they are due, so a lost answer does no harm.
}

interface LateAgentPort {
  tell @0 (news :LateMonitorNews) -> (news :LateAgentNews);
}

struct LateAgentNews {
  reserves @0 :List(LateReserve);
  cancels @1 :List(LateCancel);
  gives @2 :List(LateGive);
  forgets @3 :List(LateLease);
  surroundings @4 :List(LateSurroundings);
  stops @5 :List(LateLease);
  grants @6 :List(LateGrant);         # at most 100, taken before all else
}

struct LateGrant {
  # The master's word that an agent may have late-bound tasks of a user run (rpc/late_grant.h). Monitors run none that no such
  # grant covers. It holds at every monitor, also while the master is away.
  agent @0 :Text;
  user @1 :Text;                      # who submits
  runAs @2 :Text;                     # the system user as whom the tasks run
  until @3 :Int64;                    # wall-clock time
  signature @4 :Data;
}

struct LateMonitorNews {
  asks @0 :List(LateAsk);
  started @1 :List(LateStart);
  notStarted @2 :List(LateStart);
  ended @3 :List(LateEnd);
}

# `server`: the position of the server in the list that the monitor gave when the session was opened.

struct LateReserve {
  server @0 :UInt32;
  probe @1 :UInt32;
  job @2 :UInt64;
  count @3 :UInt32;
  user @4 :UInt32;
  shares @5 :UInt16;
  priority @6 :UInt8;
  caused @7 :Data;        # pressures, a byte for each resource; empty: none
  tolerated @8 :Data;     # the same; empty: bears everything
}

struct LateCancel {
  server @0 :UInt32;
  probe @1 :UInt32;
  job @2 :UInt64;
}

struct LateGive {
  server @0 :UInt32;
  task @1 :UInt32 = 0xffffffff;       # none
  job @2 :UInt64;
  lease @3 :UInt64;
  work @4 :LateWork;                  # null where there is no task
}

struct LateWork {
  launch @0 :Types.LaunchSpec;
  # Of this: job, jobName, task, tasks, command, env, workdir, user, limits, grace and timeout; the monitor chooses the rest.
  executor @1 :List(Text);
  # Command of a process that runs such tasks one after the other; empty: the task is a process of its own. It gets
  # `launch.command`, or `description` where that is not null.
  description @2 :Data;
}

struct LateLease {
  server @0 :UInt32;
  lease @1 :UInt64;
}

struct LateSurroundings {
  # What tasks of a server feel from what the master has put there and from what it measured.
  server @0 :UInt32;
  caused @1 :List(Int32);             # sum over committed tasks, by resource
  share @2 :List(UInt16);             # of its platform, by resource, in 1/256
  background @3 :Data;
}

struct LateAsk {
  server @0 :UInt32;
  probe @1 :UInt32;
  job @2 :UInt64;
  lease @3 :UInt64;
  queued @4 :UInt64;                  # microseconds
}

struct LateStart {
  job @0 :UInt64;
  lease @1 :UInt64;
  task @2 :UInt32;
}

struct LateEnd {
  server @0 :UInt32;
  task @1 :UInt32;
  job @2 :UInt64;
  lease @3 :UInt64;
  code @4 :Int32;
  # Exit code, 128 + n where signal n ended it, 124 where it took too long, 125 where it could not be started.
  getTask @5 :UInt32;                 # microseconds, as the next two
  queue @6 :UInt64;
  service @7 :UInt64;
}

# --- Clients and agents

interface LateClientPort {
  submit @0 (jobs :List(LateJob)) -> (refused :List(LateRefusal));
  # Success: the agent holds the jobs, in memory only, but for those that are refused. Each task of a job that it holds
  # comes back once through LateClient, unless the session ends before.

  heartbeat @1 () -> ();
  # Answered at once by an agent that lives.

  cancel @2 (jobs :List(UInt64)) -> ();
  # Tasks that were not given to a server come back as cancelled, and so do the others, which are stopped, unless they end
  # well. Unknown jobs are over.
}

interface LateClient {
  over @0 (tasks :List(LateTaskOver)) -> ();
  # The agent has one such call under way and gathers meanwhile.
}

struct LateJob {
  number @0 :UInt64;                  # the client's own; not used twice in a session
  id @1 :Data;                        # under which others find the job
  spec @2 :Types.JobSpec;
  tasks @3 :List(UInt32);             # only these of its tasks, ascending; empty: all
  probeRatio @4 :Float64;             # reservations for each task; 0: the agent's
  executor @5 :List(Text);            # as in LateWork
  descriptions @6 :List(Data);        # by task of `spec`, for the executor; empty: the command
  detached @7 :Bool;                  # goes on when the session ends
}

struct LateRefusal {
  job @0 :UInt64;
  code @1 :UInt8;                     # core/base/result.h: ErrorCode
  problem @2 :Text;
}

enum LateOutcome { done @0; lost @1; cancelled @2; }

struct LateTaskOver {
  job @0 :UInt64;
  task @1 :UInt32;                    # its number in the job
  outcome @2 :LateOutcome;
  code @3 :Int32;
  attempts @4 :UInt32;
  phases @5 :LatePhases;              # null where it did not run to an end
  server @6 :Text;                    # that it was given to last; empty: none
  lease @7 :UInt64;                    # of that server, in which it ran to an end; 0: it did not
}

struct LatePhases {
  # Microseconds (Sparrow Fig. 9).
  reserve @0 :UInt64;
  queue @1 :UInt64;
  getTask @2 :UInt64;
  service @3 :UInt64;
}

struct LateJobDetails {
  # What an agent knows of a job that it holds or held.
  id @0 :Data;
  spec @1 :Types.JobSpec;
  user @2 :Text;
  submitted @3 :Int64;                # wall-clock time, as the next
  finished @4 :Int64;                 # 0: not yet
  over @5 :List(LateTaskOver);        # tasks that are over, in the order of their ends, from the one that was asked for
  nextOver @6 :UInt32;                # the one to go on with; 0: these are all so far
  number @7 :UInt64;                  # the job's, among all of the cluster; 0: none
}
