@0xb6f1d1a3c0e94a03;
# What an agent offers to clients. Its bootstrap capability is AgentGate: it only logs in.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";
using Master = import "master.capnp";
using Late = import "late_binding.capnp";

interface AgentGate {
  login @0 (token :Text) -> (caller :Types.Caller, client :ClientPort, cluster :Text);
  # Fails as Denied for a token that is wrong or not a user's, as Unavailable while the master is out of reach.
  # A repeat gives another session. An empty token, over a Unix socket: as whom the kernel knows the peer, where agent and
  # master let such users in (--vouch). The connection ends when what was shown no longer holds.
}

interface ReadOnlyGate extends(Master.MasterGate, AgentGate) {
  # What a master offers that is read-only: commands that show something log in at it as at an agent. Agents and monitors
  # log in, and cannot attach. Of ClientPort, `user` works, and there are no late-bound jobs; all else fails as Conflict, and
  # so does what UserPort would change or wait for.
}

interface ClientPort {
  submit @0 (id :Data, spec :Types.JobSpec, files :List(Types.InputFile)) -> ();
  # Input files of more than 1 MiB come in pieces, by `upload`.
  # `id` is made by the client. Success: the job is on disk at the master. A repeat with the same id, at any agent, finds
  # the job and makes no second one. Fails as Invalid or Denied with nothing changed, as Exhausted when too much waits,
  # as Unavailable while the master is out of reach (then it is unknown whether it was taken: repeat).

  output @1 (id :Data, task :UInt32, stream :Stream, offset :UInt64, wait :Bool, taken :UInt64, after :UInt64, only :UInt64)
      -> (content :Data, ended :Bool, allocation :UInt64, start :UInt64) $Types.forReaders;
  # Some bytes (at most 1 MiB) of the task's output from `offset` on. With `wait`, held until there are some or the task
  # has ended. `ended`: nothing will follow. `allocation` tells attempts apart: when it changes, the output begins anew.
  # `start`: where the content begins; behind `offset` where the limit of output has dropped what is older.
  # Fails as NotFound when the output is gone. Reads only. `taken`: the allocation whose output up to `offset` the caller has,
  # where the task waits for that (JobSpec.streamed); 0: the caller only looks. `after`: of this allocation the caller has all;
  # held until the task has been started again, or is over, which is answered with `ended` and the same allocation. A
  # server that does not answer is waited for with `wait`, for as long as the task is not over. `only`: of this allocation, also
  # of an attempt that was followed by another.

  user @2 () -> (port :Master.UserPort) $Types.forReaders;
  # The master's port for this caller.

  plan @3 (spec :Types.JobSpec, seed :UInt64) -> (plan :Types.Plan) $Types.forReaders;
  # What submit would do with this job now, without doing it: the decision on the agent's present copy of the state, drawn
  # with this seed. The same seed on the same state gives the same plan. Input files are not part of it. Fails as submit
  # does, as Unavailable until the agent knows the whole state, and as Exhausted while too many plans wait. Reads only.

  lateBinding @4 (client :Late.LateClient) -> (port :Late.LateClientPort);
  # Opens a session for jobs whose tasks are bound late. It ends with the connection, or when the port is dropped; each
  # call opens another one.

  lateJob @5 (id :Data, firstOver :UInt32) -> (job :Late.LateJobDetails) $Types.forReaders;
  # A job whose tasks are bound late, as this agent knows it: only the one that holds it does, and for a while after its
  # end. Of its tasks that are over those from the `firstOver`-th on, at most 5,000. Fails as NotFound, for jobs of others too
  # unless the role is operate. Reads only.

  lateJobs @6 (limit :UInt32, filter :Master.JobFilter) -> (jobs :List(Master.JobSummary)) $Types.forReaders;
  # The late-bound jobs that this agent knows and that pass the filter, newest first, at most 10,000. Reads only.

  findLateJobs @7 (prefix :Text, number :UInt64) -> (ids :List(Data), numbers :List(UInt64)) $Types.forReaders;
  # As UserPort.find. Reads only.

  cancelLateJob @8 (id :Data) -> (state :Types.RunState);
  # Success: no more of its tasks are given to servers; those that were run to their end. `state` is the job's before. Fails
  # as lateJob does. A repeat changes nothing.

  waitLateJob @9 (id :Data) -> (state :Types.RunState) $Types.forReaders;
  # Answered when every task is over. Fails as lateJob does. Reads only.

  lateOutput @10 (id :Data, task :UInt32, stream :Stream, offset :UInt64, wait :Bool)
      -> (content :Data, ended :Bool, start :UInt64) $Types.forReaders;
  # As output, of a late-bound job's task once that is over: before, there is nothing; with `wait`, held until it is. Fails
  # as NotFound also where the output is gone, and as Invalid where an executor ran the task: it has none of its own.

  upload @11 (bytes :UInt64) -> (upload :Upload);
  # Begins a submission whose input files take more than 1 MiB, `bytes` in all: paths, 16 more for each, and contents. Answered
  # when the caller's other submissions leave room. Fails as Invalid where a job may not ship so much.

  resultFiles @12 (id :Data, task :UInt32, after :Text)
      -> (files :List(Types.ResultFile), more :Bool, ended :Bool, allocation :UInt64) $Types.forReaders;
  # The files that were kept of the task's last attempt (`results` of its job), by path, those behind `after`: at most 256,
  # and `more` where there are others. None before the task has `ended`. `allocation` tells attempts apart. Fails as NotFound
  # when they are gone, as Invalid where the task's server runs no commands. Reads only.

  readResult @13 (id :Data, task :UInt32, allocation :UInt64, path :Text, offset :UInt64) -> (content :Data) $Types.forReaders;
  # Some bytes (at most 1 MiB) of a file that resultFiles lists, from `offset` on; none at its end. Fails as NotFound when the
  # file is gone, as Conflict where the task's last attempt is another one than `allocation` by now. Reads only.

  masters @14 () -> (masters :List(Master.MasterStanding)) $Types.forReaders;
  # Of each master that the agent was told of what it says of itself, in that order; of one that does not answer within a
  # second the address alone, with a pid of 0. Reads only.
}

interface Upload {
  # The input files of one submission, in pieces. Nobody else can name it. It ends with the connection, when the port is dropped,
  # and where a minute passes without a call; then its calls fail as Unavailable.

  add @0 (files :List(Types.InputFile)) -> ();
  # The next piece, of at most 1 MiB. A file whose path is that of the file before it, also of the last one in the piece before,
  # goes on with its content. Fails as Invalid for files that no job may ship and for more than were announced; the piece does
  # not count then.

  submit @1 (id :Data, spec :Types.JobSpec) -> ();
  # As ClientPort.submit, with the files that were added, and the last call. Fails as Invalid where they are less than
  # was announced.
}

enum Stream { stdout @0; stderr @1; }
