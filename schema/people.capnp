@0xe8c27f5510b94d6a;
# The people of a cluster: users and accounts that operators made known, and tokens that expire.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";

struct User {
  name @0 :Text;
  account @1 :Text;           # empty: none
  role @2 :Types.Role;        # read, submit or operate
  runAs @3 :List(Text);       # as Types.Caller has it
  changedBy @4 :Text;         # the operator; ignored where it is sent
}

struct Account {
  name @0 :Text;
  shares @1 :UInt32;
  runningUnits @2 :Int64 = -1;        # that its members' tasks hold together; -1: no bound, as in the next two
  waitingTasks @3 :Int64 = -1;        # that have not started
  specificationBytes @4 :Int64 = -1;  # of unfinished jobs, in the master's memory
  highestPriority @5 :UInt8 = 100;    # of a job
  mayOptOut @6 :Bool = true;          # whether jobs may leave their neighbours unheeded, or tolerate nothing
  changedBy @7 :Text;                 # as of a user
}

struct UserToken {
  id @0 :UInt64;
  digest @1 :Data;            # SHA-256 of its text. Never told to anybody
  user @2 :Text;
  role @3 :Types.Role;        # of a user who is not known, as runAs
  runAs @4 :List(Text);
  made @5 :Int64;             # wall-clock time, as until
  until @6 :Int64;
  madeBy @7 :Text;            # a user
}
