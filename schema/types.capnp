@0xb6f1d1a3c0e94a01;
# Values that travel between roles and that are stored. Ordinals are never reused; changes only add.
#
# Conventions. Pressures are Data of exactly 10 bytes in the order of the resources (core, l1i, l1d, l2, llc,
# memory_bandwidth, memory_capacity, tlb, disk_bandwidth, network_bandwidth), each 0..99. Job ids are Data of exactly
# 16 bytes. Wall-clock times are microseconds since 1970 UTC, 0 for "not yet". Durations are microseconds.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");

enum Role { submit @0; operate @1; agent @2; monitor @3; read @4; }
# What a token allows. "operate" includes all that "submit" may, for jobs of every user; "read" sees what "submit" does, and
# calls only what is marked forReaders.

annotation forReaders @0xc1d0a7e4b6f3925b (method) :Void;
# What role read may call, too: it changes nothing but by which tokens the caller may log in.

struct Caller {
  user @0 :Text;            # whom the token names
  role @1 :Role;
  runAs @2 :List(Text);     # system users that jobs may run as; the first is the default
}

struct Entry { key @0 :Text; value @1 :Text; }
# One pair of a map; keys are unique within it.

struct Extra { kind @0 :Text; count @1 :UInt32; }
# So many countable things of a kind, 1..4096; kinds are unique within a list, at most 16.

struct HeldExtra { kind @0 :Text; numbers @1 :List(UInt16); }
# Which of a server's things of this kind a task holds, ascending; they are numbered from 0.

struct FreeExtra { kind @0 :Text; free @1 :List(UInt64); }
# Which of a server's things of this kind no task holds: a set as ServerStatus.free.

# --- Jobs ---------------------------------------------------------------------------------------------------------

struct Profile {
  application @0 :Text;     # name under which it is stored; may be empty
  caused @1 :Data;          # pressure that one task causes on a whole reference server
  tolerated @2 :Data;       # foreign pressure that it tolerates
  platforms @3 :List(Factor);
  struct Factor {
    platform @0 :Text;
    factor @1 :Float64;     # performance relative to the application's best platform, in (0, 1]
    origin @2 :UInt8;       # as in origins below
    error @3 :UInt8;        # how far it may be off in the mean, in hundredths of the best performance; 0: nothing is said
  }
  isAssumed @4 :Bool;       # nobody measured it
  origins @5 :Data;
  # Where its entries come from: ten bytes for caused, then ten for tolerated. 0: whoever wrote it says no more (so are all
  # where this is empty), 1: measured, 2: inferred, 3: lowered by the cluster, 4: nothing is known of it.
  errors @6 :Data;          # how far each may be off in the mean, in points of pressure; 0: nothing is said. Empty: all 0
}

enum ConstraintOperator { equal @0; notEqual @1; less @2; greater @3; in @4; notIn @5; exists @6; }

struct Constraint {
  attribute @0 :Text;
  op @1 :ConstraintOperator;
  values @2 :List(Text);    # one, several for in and notIn, none for exists
}

enum Schedule { incremental @0; gang @1; }
enum Spread { none @0; server @1; rack @2; }
enum Pack { none @0; server @1; rack @2; }
enum Policy { quality @0; greedy @1; random @2; perTask @3; batch @4; lateBinding @5; }
enum Network { host @0; none @1; own @2; }
enum Metric { instructions @0; reported @1; cpuTime @2; }

struct TaskPreference {
  task @0 :UInt32;
  servers @1 :List(Text);   # names, in place of JobSpec.prefer for this task
}

struct TaskRequirement {
  task @0 :UInt32;
  constraints @1 :List(Constraint);  # beside JobSpec.constraints for this task
}

struct Container {
  rootfs @0 :Text;          # folder on the server; empty: the server's own files
  bundle @1 :Text;          # OCI bundle on the server
  network @2 :Network;
  image @3 :Text;           # reference of an image, in place of both
  imageDigest @4 :Text;     # of its manifest, once a task of the job has started; "sha256:" and 64 digits
}

struct PerformanceGoal {
  metric @0 :Metric;
  target @1 :Float64;       # in the metric's unit; 0: what the task reached before
  deviation @2 :Float64;    # in (0, 1)
  window @3 :UInt64;        # microseconds
}

struct JobSpec {
  name @0 :Text;
  command @1 :List(Text);
  env @2 :List(Entry);
  workdir @3 :Text;         # empty: a private one
  user @4 :Text;            # run as; empty: the submitter's default
  tasks @5 :UInt32;         # 1..100000
  rusPerTask @6 :UInt32;    # resource units of one server that each task gets, 1..4096
  concurrency @7 :UInt32;   # most tasks at once; 0: all
  priority @8 :UInt8;       # 0..100, higher first
  grace @9 :UInt64;         # microseconds between SIGTERM and SIGKILL
  timeout @10 :UInt64;      # microseconds that one attempt may run; 0: no limit
  schedule @11 :Schedule;
  profile @12 :Profile;
  target @13 :Float64;      # least expected performance in (0, 1]; 0: the cluster's
  confidence @14 :Float64;  # in (0, 1); 0: the cluster's
  protectNeighbours @15 :Bool;
  spread @16 :Spread;       # none also where spreadBy is another attribute
  atMost @17 :UInt32;       # tasks per server or rack, where spread is not none
  constraints @18 :List(Constraint);
  prefer @19 :List(Text);   # names of servers that hold the job's data
  restartAttempts @20 :UInt32;  # how often a failed task is started again
  restartBackoff @21 :UInt64;   # microseconds before the first restart; doubles with each
  restartOnLost @22 :Bool;      # start again a task that was lost with its server
  memoryBytes @23 :UInt64;  # 0: the share of the task's resource units
  pids @24 :UInt32;         # 0: the monitor's default
  outputBytes @25 :UInt64;  # of each of stdout and stderr
  extras @26 :List(Extra);  # countable things that each task needs on its server
  policy @27 :Policy;       # how places are chosen
  pack @28 :Pack;           # judge slots together with the others of their server or rack
  preferOfTask @29 :List(TaskPreference);  # tasks are unique
  exclusive @30 :Bool;      # never two live copies of a task
  maxWait @31 :Int64 = -1;  # microseconds; then the best place there is is taken; -1: the agent's bound
  preemptible @32 :Bool;    # its tasks may be ended for a job of higher priority
  atMostOnce @33 :Bool;     # late binding: what may have run is not started again
  container @34 :Container;
  performance @35 :PerformanceGoal;   # null: tasks are not watched
  moreRus @36 :UInt32;      # units that a degraded task may get beyond rusPerTask
  mayMove @37 :Bool;        # a degraded task may be started anew on another server
  diskBytesPerSecond @38 :UInt64;     # 0: no limit
  networkBytesPerSecond @39 :UInt64;  # in each direction; 0: no limit
  hold @40 :Bool;           # no task starts until it is released
  measures @41 :Text;       # application whose profile its one task measures and prints; empty: none
  startAfter @42 :Int64;    # microseconds since the epoch before which no task starts; 0: at once
  yields @43 :Bool;         # its tasks may be throttled while they slow down others of their server
  diskBytes @46 :UInt64;    # of working directory and /tmp together; 0: the monitor's default
  profileLookedUp @45 :Bool;  # the profile follows what the cluster learns of its application
  earlier @44 :List(Earlier);  # platforms are unique, at most 64
  requireOfTask @47 :List(TaskRequirement);  # tasks are unique
  spreadBy @48 :Text;       # attribute; empty: as spread says
  packBy @49 :Text;         # the same for pack
  after @50 :After;
  items @51 :List(Text);    # one for each task; empty: the job is no array over a list
  output @52 :Text;         # file on the server that standard output goes to besides; empty: none
  error @53 :Text;          # the same for standard error
  results @54 :List(Text);  # patterns of files below the working directory that are kept for the user
  streamed @55 :Bool;       # output waits for whoever takes it (ClientPort.output)
  input @56 :Text;          # file that standard input is read from; empty: none
  protection @57 :Protection;  # of its tasks against newcomers that are worth their price
  secrets @58 :List(Text);  # that its tasks get, NAME or OWNER/NAME
  struct Earlier {
    # What can be expected of a watched task after earlier runs of the application.
    platform @0 :Text;
    reached @1 :Float64;    # above 0, in the metric of `performance`
  }
}

enum Protection { byKind @0; strict @1; balanced @2; }

struct After {
  # Jobs that one waits for, of the same user and accepted before it, 1000 together at most.
  ok @0 :List(Data);        # all of them done
  any @1 :List(Data);       # all of them ended
  failed @2 :List(Data);    # all of them ended, and none is done
  each @3 :Data;            # task i waits for task i of this job to be done; empty: for none
  unmet @4 :Unmet;          # what becomes of what waits for something that will not come
  enum Unmet { cancel @0; hold @1; }
}

struct InputFile {
  path @0 :Text;            # relative, "/" between parts, no "." or ".."
  mode @1 :UInt32;          # permission bits
  content @2 :Data;
}

struct ResultFile {
  # Kept of a task that has ended.
  path @0 :Text;            # relative to its working directory, "/" between parts, no "." or ".."
  bytes @1 :UInt64;
  mode @2 :UInt32;          # permission bits
}

enum RunState { queued @0; starting @1; running @2; done @3; failed @4; cancelled @5; lost @6; }

enum EndCause { exited @0; neverStarted @1; cancelled @2; timedOut @3; lost @4; }

struct TaskEnd {
  cause @0 :EndCause;
  exitCode @1 :Int32;
  signal @2 :Int32;         # that ended it, or 0
  oomKilled @3 :Bool;
  problem @4 :Text;         # for people
  started @5 :Int64;        # wall-clock time
  ended @6 :Int64;          # wall-clock time
  lacksOutput @7 :Bool;     # what it wrote last is not all there
  peakMemory @8 :UInt64;    # bytes, with page cache; 0: not known
  cpuTime @9 :UInt64;       # microseconds; 0: not known
}

struct JobRecord {
  # Written when the job is accepted, and when its priority or its profile is changed.
  id @0 :Data;
  spec @1 :JobSpec;
  user @2 :Text;            # who submitted
  runAs @3 :Text;           # system user of its tasks
  hasFiles @4 :Bool;
  submitted @5 :Int64;      # wall-clock time
  profileReplaced @6 :Int64;  # wall-clock time: by what was learned since; 0: it is as submitted
  fileBytes @7 :UInt64;     # what its input files take; 0 where an earlier version took it
  filePieces @8 :UInt32;    # of its input files, which were there before its first commit (AgentPort.piece); 0: they came with it
  number @9 :UInt64;        # in the order in which the cluster accepted its jobs; 0 in a job that is not accepted yet
  cron @10 :Text;           # name of its user's cron that it was made for; empty: of none
  planned @11 :Int64;       # wall-clock time that the cron made it for; 0: a user had it made
}

struct JobProgress {
  # What changes while a job lives.
  id @0 :Data;
  state @1 :RunState;
  reason @2 :Text;          # why it waits or how it failed
  owner @3 :Text;           # name of the agent that places it
  cancelRequested @4 :Bool;
  decisions @5 :UInt32;     # decisions stored so far
  finished @6 :Int64;       # wall-clock time
  held @7 :Bool;            # no further task starts until it is released
  heldUntil @8 :Int64;      # then it is released by itself; 0: never
  heldForJobs @10 :Bool;    # held until the jobs have ended that it is to start after
  keepsFiles @9 :Bool;       # it has ended, and its input files are kept for it to be run again
}

struct TaskRecord {
  # A task that has left its first queue; a task without a record is queued at attempt 0.
  job @0 :Data;
  index @1 :UInt32;
  state @2 :RunState;
  attempt @3 :UInt32;
  failures @4 :UInt32;      # ended attempts that count against restartAttempts
  allocation @5 :UInt64;    # current or last; 0: none
  server @6 :Text;          # of that allocation
  rus @7 :List(UInt16);
  q @8 :Float64;            # as judged when it was placed
  s @9 :Float64;
  decision @10 :UInt32;     # number of the decision that placed it
  stopping @11 :Bool;
  placed @12 :Int64;        # wall-clock time
  end @13 :TaskEnd;         # of the last attempt that ended
  extras @14 :List(HeldExtra);  # of that allocation
  moving @15 :Bool;         # stopped so that it goes elsewhere: the attempt does not count
  previous @16 :Text;       # how the attempt before this one ended; empty for the first
  mayRunFor @17 :UInt64;    # microseconds that attempt may have run on
  movedFor @18 :Text;       # where moving: why, for people
  excused @19 :UInt32;      # attempts that a server could not start by its own fault, and do not count
  earlier @20 :List(EarlierAttempt);  # oldest first; the last few
}

struct EarlierAttempt { attempt @0 :UInt32; allocation @1 :UInt64; server @2 :Text; }

struct Explanation {
  # One decision, in at most 560 bytes, since one is stored for each. Servers go by the master's number. The lists about
  # candidates are parallel, the highest ranked first.
  drawn @0 :UInt32;         # slots sampled
  acceptable @1 :UInt32;    # of them feasible and good enough
  obsolete2 @2 :UInt32;     # of what a first block had found; not written, ignored
  obsolete3 @3 :UInt32;
  limit @4 :UInt64;         # most slots that would have been sampled
  confidence @5 :Float64;   # that was asked for
  allSeen @6 :Bool;         # every free slot was drawn
  enoughFound @7 :Bool;
  margin @8 :UInt8;         # pressure added to each contention when it was judged
  seed @9 :UInt64;
  wanted @10 :UInt32;       # tasks that were to be placed
  placed @11 :UInt32;
  dropped @12 :List(UInt32);      # by reason, as core/state/explain.h orders them; zeros at the end may be missing
  servers @13 :List(UInt32);
  contentions @14 :Data;          # 10 pressures each
  slacks @15 :Data;               # 10 each; 255 where the residents bear anything
  q @16 :List(Float64);
  s @17 :List(Float64);
  rus @18 :List(UInt16);          # 4 each, of which rusCounts are meant
  rusCounts @19 :Data;            # a byte each
  after @20 :Data;                # a byte each: what put it behind the one before
  obsolete21 @21 :UInt32;         # servers with a slot; not written, ignored
  freeSlots @22 :UInt32;          # what was drawn from
  rarity @23 :Float64;            # share of acceptable slots for which enough were to be found
  sought @24 :UInt32;             # tasks for which slots were sampled: not placed by name
  price @25 :Float64 = 1;         # a slot of this worth on would have been taken that is not acceptable; 1: none
  waitingJobs @26 :UInt32;        # that the price was formed for
  costs @27 :List(Float32);       # what neighbours would lose, each in S, together; empty: older, none
}

struct DecisionRecord {
  job @0 :Data;
  number @1 :UInt32;
  tasks @2 :List(UInt32);   # placed by it
  obsolete3 @3 :AnyPointer; # a longer explanation, of versions that nobody uses any more; ignored
  explanation @4 :Explanation;
}

# --- Servers ------------------------------------------------------------------------------------------------------

struct ServerFacts {
  name @0 :Text;
  platform @1 :Text;
  rack @2 :Text;
  attributes @3 :List(Entry);
  rus @4 :UInt32;
  cores @5 :UInt32;         # fewer than rus where units share cores
  memoryBytes @6 :UInt64;   # of all resource units together
  address @7 :Text;         # where agents reach its monitor
  emulated @8 :Bool;
  missing @9 :List(Text);   # what the machine cannot limit or measure
  extras @10 :List(Extra);  # countable things
  memoryOvercommit @11 :UInt32 = 100;  # how much of the memory tasks may claim together, in percent
  diskBytes @12 :UInt64;    # for work folders, of all resource units together; 0: not counted
}

struct ServerStatus {
  version @0 :UInt64;       # rises with each change of this server
  up @1 :Bool;
  cordoned @2 :Bool;
  free @3 :List(UInt64);    # set of free units, 64 a word, lowest unit in the lowest bit of the first
  sum @4 :List(Int32);      # caused pressures of all tasks, unscaled, unclamped
  bound @5 :List(Int32);    # G of each resource
  background @6 :Data;      # pressures
  freeExtras @7 :List(FreeExtra);  # one for each kind of the facts
  allocatedMemory @8 :UInt64;  # bytes that its tasks claim together
  allocatedDisk @9 :UInt64;
  removed @10 :Bool;        # down for good as far as anybody knows: no job counts on it
  quarantined @11 :Bool;    # cordoned by the master, as tasks could not be started there: for a while
  residents @12 :List(ResidentGroup);
  # Its tasks but the late-bound, ascending by what they cause, then by what they tolerate, strict ones last. Of a master that does not
  # say them there is the sum alone.
}

# Tasks of one server that cause and tolerate the same, and are protected alike.
struct ResidentGroup {
  caused @0 :Data;          # each of them
  tolerated @1 :Data;
  count @2 :UInt32;
  strict @3 :Bool;          # no newcomer may break one of them, whatever it is worth
}

struct ServerUpdate {
  id @0 :UInt32;            # the master's number for the server
  facts @1 :ServerFacts;    # null where the receiver has them
  status @2 :ServerStatus;  # absolute: replaces an older one
}

struct ServerName {
  id @0 :UInt32;            # the master's number
  name @1 :Text;
  platform @2 :Text;
}

struct Usage {
  user @0 :Text;
  ruMicroseconds @1 :UInt64;  # resource units times how long tasks held them
  attempts @2 :UInt64;      # of tasks that held units
  done @3 :UInt64;          # jobs that ended so
  failed @4 :UInt64;
  cancelled @5 :UInt64;
  lost @6 :UInt64;
  shares @7 :UInt32 = 1;    # of the cluster, beside those of other users who wait
}

struct Platform {
  name @0 :Text;
  share @1 :List(UInt16);   # per resource, in 1/256
}

enum QualityModel { encoded @0; componentwise @1; }
enum ContentionModel { sum @0; mean @1; slowdowns @2; }

struct QualitySettings {
  target @0 :Float64;
  confidence @1 :Float64;
  cap @2 :UInt32;           # draws per slot at most; 0: as many as rarity and confidence ask for
  floor @3 :UInt32;         # draws per job at least
  ratio @4 :UInt32;         # fixed R; 0: sequential
  model @5 :QualityModel;
  contention @6 :ContentionModel;
  margin @7 :Int32;         # pressure added to contention when judging
  noiseFloor @8 :Int32;     # pressure that breaks no neighbour
  protectNeighbours @9 :Bool;
  version @10 :UInt64;      # rises with each change
  profileUnknown @11 :Bool; # jobs of applications without a profile are taken, and these measured
  rarity @12 :Float64 = 0.05;  # share of acceptable slots for which the confidence is to hold
  throttling @13 :Throttling = on;
  ranking @14 :RankBy;
  neighbourFloor @15 :Float64 = 0.1;  # S that a newcomer leaves to neighbours that are not strict
}

enum RankBy { quality @0; worth @1; }
enum Throttling { off @0; preview @1; on @2; }

# --- Commits ------------------------------------------------------------------------------------------------------

struct Judging {
  # How the agent judged: beside what the master knows of the job, which is never taken from here.
  obsolete0 @0 :Data;       # the profile's caused and tolerated pressure, of the job's record; not written, ignored
  obsolete1 @1 :Data;
  model @2 :QualityModel;
  contention @3 :ContentionModel;
  margin @4 :Int32;
  noiseFloor @5 :Int32;
  protectNeighbours @6 :Bool;
  neighbourFloor @7 :Float64 = 0.1;
}

struct Claim {
  task @0 :UInt32;
  attempt @1 :UInt32;
  server @2 :UInt32;
  rus @3 :UInt32;           # how many units
  preferred @4 :List(UInt16);
  versionSeen @5 :UInt64;
  floor @6 :Float64;        # least S at which it still holds
  q @7 :Float64;
  s @8 :Float64;
}

enum Verdict {
  granted @0; unknownServer @1; serverDown @2; cordoned @3; notFree @4; belowFloor @5; breaksNeighbour @6;
  taskNotWaiting @7; notAll @8; noExtras @9; noMemory @10; noDisk @11;
}

struct Grant {
  verdict @0 :Verdict;
  allocation @1 :UInt64;    # where granted
  rus @2 :List(UInt16);
  extras @3 :List(HeldExtra);  # where granted
}

struct Commit {
  sequence @0 :UInt64;      # from 1 within the agent's epoch, without gaps
  answered @1 :UInt64;      # every sequence up to this one has been answered to the agent
  job @2 :Data;
  newJob @3 :JobRecord;     # null unless this is the job's first commit
  files @4 :List(InputFile);  # of newJob
  judging @5 :Judging;
  gang @6 :Bool;            # all claims or none
  claims @7 :List(Claim);
  waitReason @8 :Text;      # why tasks are left without claims
  obsolete9 @9 :AnyPointer; # as in DecisionRecord
  explanation @10 :Explanation;
  capacityVersion @11 :UInt64;    # QueueNews.capacityVersion as the agent had it when it looked for slots
}

struct CommitAnswer {
  sequence @0 :UInt64;
  outcome @1 :Outcome;
  problem @2 :Text;
  grants @3 :List(Grant);   # parallel to the claims, where outcome is ok
  servers @4 :List(ServerUpdate);
  enum Outcome { ok @0; jobExists @1; jobOver @2; refused @3; superseded @4; busy @5; filesMissing @6; }
  # superseded: this connection does not speak for an agent any more, another has attached under its name. Says nothing
  # about the job: the agent's clients are to repeat their submissions at another agent. busy: the cluster holds as many
  # unfinished jobs as it may; a later submission may be taken. filesMissing: the pieces of its input files that the job names
  # are not there (any more); send them again, and another commit.
}

struct Plan {
  # What would become of a job if it were submitted now. Nothing of it is stored or promised.
  claims @0 :List(Claim);   # one for each task that would get a place at once
  explanation @1 :Explanation;  # with at most 64 candidates
  waitReason @2 :Text;      # why the other tasks would wait; empty where none would
  servers @3 :List(ServerName);  # those that claims and explanation number
  usableUnits @4 :UInt64;   # of servers that are up and not cordoned
  freeUnits @5 :UInt64;     # of them, before this job
}

struct TaskAssignment {
  index @0 :UInt32;
  attempt @1 :UInt32;
  state @2 :RunState;
  delay @3 :UInt64;         # microseconds before it may be placed
  allocation @4 :UInt64;
  server @5 :UInt32;
  rus @6 :List(UInt16);
  extras @7 :List(HeldExtra);
}

struct JobAssignment {
  job @0 :JobRecord;
  complete @1 :Bool;        # every unfinished task is listed
  over @2 :Bool;            # forget the job
  tasks @3 :List(TaskAssignment);
  waiting @4 :List(TaskRange);  # wait to be placed for the first time, but for what `tasks` says of them
}

struct TaskRange {
  # Both ends included.
  first @0 :UInt32;
  last @1 :UInt32;
}

# --- Launches -----------------------------------------------------------------------------------------------------

struct LaunchSpec {
  allocation @0 :UInt64;    # the key: a repeat starts nothing
  job @1 :Data;
  jobName @2 :Text;
  task @3 :UInt32;
  attempt @4 :UInt32;
  tasks @5 :UInt32;         # of the whole job
  server @6 :Text;
  rus @7 :List(UInt16);
  command @8 :List(Text);
  env @9 :List(Entry);
  workdir @10 :Text;
  user @11 :Text;           # system user
  memoryBytes @12 :UInt64;
  pids @13 :UInt32;
  outputBytes @14 :UInt64;
  grace @15 :UInt64;        # microseconds
  timeout @16 :UInt64;      # microseconds; 0: none
  hasFiles @17 :Bool;
  extras @18 :List(HeldExtra);
  exclusive @19 :Bool;      # lives no longer than its monitor's lease
  container @20 :Container;
  performance @21 :PerformanceGoal;   # null: not watched
  caused @22 :Data;         # by the job's profile
  tolerated @23 :Data;
  diskBytesPerSecond @24 :UInt64;     # 0: no limit
  networkBytesPerSecond @25 :UInt64;  # in each direction; 0: no limit
  measures @26 :Bool;       # a profile: what it prints goes with the report of its end
  earlier @27 :Float64;     # JobSpec.earlier of the server's platform; 0: not known
  diskBytes @28 :UInt64;    # of working directory and /tmp together; 0: the monitor's default
  gang @29 :GangHosts;      # null: the job is no gang
  output @30 :Text;         # file that standard output goes to besides; empty: none
  error @31 :Text;
  results @32 :List(Text);  # patterns of files below the working directory that are kept
  streamed @33 :Bool;       # output waits for whoever takes it (LaunchPort.output)
  input @34 :Text;          # file that standard input is read from; empty: none
  submitter @35 :Text;      # who submitted the job, whatever system user it runs as
  secrets @36 :List(Text);  # as of a job: to be asked of the master before the start (MonitorPort.secrets)
}

struct GangHosts {
  # Where the tasks of a gang are, at most 32 KiB each; empty where it would be longer.
  list @0 :Text;            # hosts of the tasks by index, with commas between; empty ones of tasks without a server
  file @1 :Text;            # "host slots=N" of each host, a line each
}

struct KnownTask {
  allocation @0 :UInt64;
  server @1 :Text;
}

struct TaskReport {
  allocation @0 :UInt64;
  ended @1 :Bool;           # else started, at end.started
  end @2 :TaskEnd;
  measured @3 :Measurement; # where it ended and was to measure
  image @5 :Text;           # where it started: digest of the image that it runs; empty: it runs none
  reached @4 :Float64 = -1; # its usual performance, where it ended and was watched for long enough; else -1
}

struct Measurement {
  # What came of measuring an application. One of both is set.
  profile @0 :Profile;
  problem @1 :Text;         # for people: why there is none
}
