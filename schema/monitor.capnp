@0xb6f1d1a3c0e94a04;
# What a monitor offers to agents. Its bootstrap capability is MonitorGate: it only logs in.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";
using Agent = import "agent.capnp";

interface MonitorGate {
  login @0 (token :Text) -> (launcher :LaunchPort);
  # Fails as Denied unless the token is an agent's, as Unavailable while the master, who knows, is out of reach.
}

interface LaunchPort {
  launch @0 (spec :Types.LaunchSpec) -> (outcome :Outcome);
  # accepted: recorded; the task is started once, however often this call is repeated, and its end will be reported to
  # the master. revoked: the master took the allocation back, or the task has ended and been forgotten; nothing will
  # start. unknownServer: this monitor does not stand for that server.
  enum Outcome { accepted @0; revoked @1; unknownServer @2; }

  output @1 (allocation :UInt64, stream :Agent.Stream, offset :UInt64, wait :Bool) -> (content :Data, ended :Bool);
  # Some bytes (at most 1 MiB) of a task's output from `offset` on. With `wait`, held until there are some or the task
  # has ended. Fails as NotFound when the output is gone. Reads only.
}
