@0xb6f1d1a3c0e94a04;
# What a monitor offers to agents. Its bootstrap capability is MonitorGate: it only logs in.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";
using Agent = import "agent.capnp";
using Late = import "late_binding.capnp";

interface MonitorGate {
  login @0 (token :Text) -> (launcher :LaunchPort);
  # Fails as Denied unless the token is an agent's, as Unavailable while the master, who knows, is out of reach.
}

interface LaunchPort {
  launch @0 (spec :Types.LaunchSpec, ticket :Data) -> (outcome :Outcome);
  # accepted: recorded; the task is started once, however often this call is repeated, and its end will be reported to
  # the master. revoked: the master took the allocation back, or the task has ended and been forgotten; nothing will
  # start. unknownServer: this monitor does not stand for that server. noTicket: the ticket is not the master's for this
  # launch, or is of an earlier session of master and monitor (AgentPort.tickets); nothing is recorded.
  enum Outcome { accepted @0; revoked @1; unknownServer @2; noTicket @3; }

  output @1 (allocation :UInt64, stream :Agent.Stream, offset :UInt64, wait :Bool, late :Bool, taken :Bool)
      -> (content :Data, ended :Bool, start :UInt64);
  # Some bytes (at most 1 MiB) of a task's output from `offset` on. With `wait`, held until there are some or the task
  # has ended. `start`: where the content begins; behind `offset` where the limit of output has dropped what is older.
  # Fails as NotFound when the output is gone. `late`: `allocation` is the turn of a late-bound task, which has ended. Reads
  # only. `taken`: what is before `offset` has arrived where it is wanted, for a task that waits for that
  # (LaunchSpec.streamed); a repeat does nothing.

  lateBinding @2 (agent :Late.LateAgentPort) -> (port :Late.LateMonitorPort, servers :List(Text));
  # Opens a session for tasks that are bound late. It ends with the connection, or when the port is dropped; each call
  # opens another one. `servers`: the names of those that take such tasks. Fails as Unavailable where none does, and by a
  # monitor of an earlier version as unimplemented.

  resultFiles @3 (allocation :UInt64, after :Text) -> (files :List(Types.ResultFile), more :Bool, ended :Bool);
  readResult @4 (allocation :UInt64, path :Text, offset :UInt64) -> (content :Data);
  # As ClientPort's.
}
