@0xe1c7a5b80f3d4962;
# Tasks that fall short of what is expected of them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";

struct Violation {
  # As core/model/performance.h.
  allocation @0 :UInt64;
  over @1 :Bool;              # it was degraded and is no longer
  metric @2 :Types.Metric;
  expected @3 :Float64;
  measured @4 :Float64;
  since @5 :Int64;            # wall-clock time
  causes @6 :List(Cause);     # the likeliest first
}

struct Reached {
  expected @0 :Float64;       # more than 0
  measured @1 :Float64;       # in the same metric
}

struct Sample {
  allocation @0 :UInt64;
  reached @1 :Reached;
}

struct Cause {
  kind @0 :CauseKind;
  resource @1 :Int8 = -1;     # its place in the order of resources, from 0; -1: none
  neighbour @2 :UInt64;       # its allocation; 0: none
  weight @3 :Float64;         # 0..1
  evidence @4 :Text;          # for people
}

enum CauseKind {
  unknown @0; neighbour @1; background @2; cores @3; memoryLimit @4; hypervisor @5; disk @6; network @7;
}

struct Step {
  # Something that was done because of a degraded task.
  at @0 :Int64;               # wall-clock time
  task @1 :UInt32;
  text @2 :Text;              # for people
}
