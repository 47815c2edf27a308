@0xd3a1c85e4f2b7096;
# Profiles of applications as the master keeps them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";

struct StoredProfile {
  profile @0 :Types.Profile;  # by its application: NAME, or NAME@VERSION
  user @1 :Text;              # who stored it
  stored @2 :Int64;           # wall-clock time
  revision @3 :UInt32;        # how often it was stored since it was not there
  note @4 :Text;              # where it comes from, for people; may be empty
  history @5 :List(Lesson);   # since it was stored by `user`, the newest last; at most 50
  own @6 :Bool;               # it counts for the jobs of `user` alone
}

struct Profiling {
  # The measurement of an application that has no profile yet.
  application @0 :Text;
  job @1 :Data;               # id of the job that measures
  user @2 :Text;              # whose job it is
  at @3 :Int64;               # wall-clock time: when it was queued, or when it failed
  problem @4 :Text;           # why it failed; empty while it is under way
}

struct Lesson {
  # What is tolerated was lowered, since a task performed badly although interference was less.
  at @0 :Int64;               # wall-clock time
  resource @1 :UInt8;         # its place in the order of resources, from 0
  from @2 :UInt8;             # tolerated
  to @3 :UInt8;
  interference @4 :UInt8;
  share @5 :Float64;          # of the performance that was expected
}

struct ObservedProfile {
  # What runs of an application by one user were measured to cause.
  application @0 :Text;
  user @1 :Text;
  caused @2 :List(Observation);  # the most that each run was charged for, in the order of resources
  last @3 :Int64;                # wall-clock time: end of the latest run
  performances @4 :List(ObservedPerformance);
}

struct ObservedPerformance {
  # How well tasks performed that had so many units of one platform.
  platform @0 :Text;
  metric @1 :Types.Metric;
  rus @2 :UInt32;                # resource units of a task
  reached @3 :Observation;
  last @4 :Int64;                # wall-clock time: end of the latest run
}

struct Observation {
  # A number of each run, over the runs; later runs count more (core/state/observed_profile.h).
  runs @0 :UInt32;
  mean @1 :Float64;
  variance @2 :Float64;
}
