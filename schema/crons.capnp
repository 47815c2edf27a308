@0xa9f06c3d5e7b1824;
# Crons: jobs that the master makes again and again, as it keeps and tells them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";

struct CronSpec {
  # What a user asks for.
  id @0 :Data;                # made by the client, as a job's: a repeated call finds the first
  name @1 :Text;              # unique among its user's
  schedule @2 :Text;          # "0 6 * * 1-5"
  zone @3 :Text;              # whose clock the schedule is read by: "Europe/Berlin", "UTC"
  ifRunning @4 :IfRunning;
  deadline @5 :UInt64;        # microseconds behind its time that a job may still be made
  job @6 :Types.JobSpec;
}

enum IfRunning { skip @0; wait @1; start @2; replace @3; }
# What becomes of a planned time while the last job has not ended.

struct Cron {
  spec @0 :CronSpec;
  user @1 :Text;              # whose it is
  runAs @2 :Text;             # system user of its jobs' tasks
  added @3 :Int64;            # wall-clock time
  held @4 :Bool;              # makes no jobs until it is released
  takenUp @5 :Int64;          # the latest planned time that was taken up: up to it none is again
  pending @6 :Int64;          # planned time whose job is still to be made; 0: there is none
  problem @7 :Text;           # why it has not been made
  lastJob @8 :CronRun;        # the last one with a job; null: there was none
  lastMade @9 :Int64;         # wall-clock time at which that job was made
  runs @10 :List(CronRun);    # what became of the last planned times, the newest last; at most 10
}

struct CronRun {
  # What became of one planned time, or of several in a row that had no job.
  planned @0 :Int64;          # wall-clock time
  before @1 :Int64;           # of all planned times from `planned` on that are before this one; 0: of `planned` alone
  byHand @2 :Bool;            # not planned: a user had it made then
  job @3 :Data;               # id of the job that was made for it
  number @4 :UInt64;          # of the job; 0: none was made
  state @5 :Types.RunState;   # of the job as it ended, or queued until then
  reason @6 :Text;            # why none was made; for people
}
