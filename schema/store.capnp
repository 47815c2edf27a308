@0xb6f1d1a3c0e94a05;
# Records as the master stores them. docs/state-format.md has the keys and an example.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";
using Profiles = import "profiles.capnp";
using Crons = import "crons.capnp";
using Members = import "members.capnp";
using People = import "people.capnp";

const formatVersion :UInt32 = 15;
# Rises when a program of the previous version could no longer read what this one writes.

struct StoredRecord {
  formatVersion @0 :UInt32;
  union {
    cluster @1 :ClusterRecord;
    server @2 :ServerRecord;
    agent @3 :AgentRecord;
    answer @4 :AnswerRecord;
    job @5 :Types.JobRecord;
    progress @6 :Types.JobProgress;
    task @7 :Types.TaskRecord;
    decision @8 :Types.DecisionRecord;
    files @9 :List(Types.InputFile);
    platform @10 :Types.Platform;
    settings @11 :Types.QualitySettings;
    usage @12 :Types.Usage;
    profile @13 :Profiles.StoredProfile;
    profiling @14 :Profiles.Profiling;
    observed @15 :Profiles.ObservedProfile;
    upload @16 :UploadRecord;
    cron @17 :Crons.Cron;
    member @18 :Members.Member;
    user @19 :People.User;
    account @20 :People.Account;
    token @21 :People.UserToken;
    audit @22 :AuditRecord;
  }
}

struct AuditRecord {
  # Entries of the audit log (docs/audit.md) that were stored together.
  first @0 :UInt64;           # number of the first of them
  lines @1 :Data;             # each with its end
}

struct ClusterRecord {
  cluster @0 :Text;           # random name, made with the store
  epoch @1 :UInt64;           # 1, or the time in ms since 1970 when a backup was restored
  nextAllocation @2 :UInt64;  # every smaller one may have been given out
  forgottenEpoch @3 :UInt64;  # no agent that was forgotten had a higher one
  nextJob @4 :UInt64;         # every smaller number of a job may have been given out; so may those of the jobs in the store
}

struct ServerRecord {
  id @0 :UInt32;
  facts @1 :Types.ServerFacts;
  monitor @2 :Text;           # identity of the monitor that registered it
  cordoned @3 :Bool;
  draining @4 :Bool;          # its tasks go elsewhere
  drainAt @5 :Int64;          # wall-clock time until which they may end by themselves; 0: they may not
  cordonReason @6 :Text;      # who cordoned it; empty where it is not
  removed @8 :Bool;           # until it comes up again; it was down, and no task held a unit of it
  pool @7 :PoolRecord;        # null: late-bound tasks have never had a unit
}

struct PoolRecord {
  # The units that a monitor has for late-bound tasks, and the answer to its last report.
  held @0 :List(UInt16);
  incarnation @1 :UInt64;
  sequence @2 :UInt64;
  granted @3 :List(UInt16);
}

struct UploadRecord {
  # Pieces of input files were stored that no job has yet.
  job @0 :Data;
}

struct AgentRecord {
  name @0 :Text;
  epoch @1 :UInt64;           # commits of other epochs are refused
}

struct AnswerRecord {
  agent @0 :Text;
  epoch @1 :UInt64;
  answer @2 :Types.CommitAnswer;  # without server states
}

struct JournalBatch {
  # One batch of changes in the journal of a store in etcd (docs/masters.md).
  formatVersion @0 :UInt32;   # as of records
  term @1 :UInt64;            # of the leader that wrote it
  changes @2 :List(JournalChange);
}

struct JournalChange {
  key @0 :Data;
  union {
    put @1 :Data;             # the record's bytes
    erase @2 :Void;
    eraseBefore @3 :Data;     # this key and all before that one
  }
}
