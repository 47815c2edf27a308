@0xb6f1d1a3c0e94a02;
# What a master offers. Its bootstrap capability is MasterGate: it only logs in.
#
# Every call: when the connection is lost before the answer, the caller does not know whether the call took effect; each
# method says what a repeat does. Nothing is answered, and nothing is told to anyone, before it is on disk.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "types.capnp";
using Late = import "late_binding.capnp";
using Profiles = import "profiles.capnp";
using Performance = import "performance.capnp";
using Crons = import "crons.capnp";
using Members = import "members.capnp";
using People = import "people.capnp";
using Secrets = import "secrets.capnp";

interface MasterGate {
  login @0 (token :Text) -> (caller :Types.Caller, user :UserPort, agent :AgentPort, monitor :MonitorPort,
                             cluster :Text, epoch :UInt64, term :UInt64);
  # Of the ports, only the one of the token's role is set: submit and operate get `user`. A wrong token fails as Denied.
  # `cluster` and `epoch` name the cluster. A repeat gives another session. Of a peer with a certificate the token does not
  # count: it is let in as the role of that, and only under its name. One that was revoked fails as Denied. A user's connection
  # ends when the token no longer holds. `term` rises with each master that leads; 0 where there is only one. A master that stands
  # by fails this, and renewCertificate, as Unavailable, with a text that begins with not_leader and names who leads.

  renewCertificate @1 (request :Text) -> (certificate :Text);
  # For a peer with a certificate, which need not log in: another one for the same role and name. `request` as
  # Members.JoinGate's. Success: on disk; the one before stays good until it expires. Fails as Denied for a peer without a
  # certificate or with one that was revoked, as Exhausted where it has too many. A repeat gives yet another.

  standing @2 () -> (standing :MasterStanding);
  # Of this master, whether it leads or stands by; before login, too. Reads only.

  laterLeader @3 (token :Text, term :UInt64) -> (term :UInt64);
  # For agents and monitors, whom it lets in as login does. Answered when this master knows that one leads in a later term
  # than `term`, which may be this one, or when this one begins to lead and lets peers in; not before. Reads only.
}

struct MasterStanding {
  name @0 :Text;                      # of its machine, for people
  address @1 :Text;                   # where it listens
  pid @2 :UInt64;
  leads @3 :Bool;
  term @4 :UInt64;                    # of the leader, as this master knows it; 0: of none, or there is only one master
  since @5 :Int64;                    # wall-clock time from which it has led, or stood by
  behind @6 :UInt64;                  # microseconds; what a standby holds was the whole state so long ago, at most
  leader @7 :Text;                    # address of who leads, as this master knows it; empty: nobody
  hasState @8 :Bool;                  # a standby holds the state, and takes over without loading it
}

interface AgentPort {
  attach @0 (agent :Text, epoch :UInt64, address :Text, feed :AgentFeed)
      -> (epoch :UInt64, jobs :List(Types.JobAssignment), more :Bool);
  # Once per connection, first. Success: this connection speaks for the agent `agent`, and an earlier one no longer does.
  # `epoch` asked: the one given before, 0 for a new process. Answered with the same epoch, the agent may repeat commits
  # that it has no answer to; with another, those came to nothing. `jobs` lists unfinished jobs of the agent, whole; where
  # `more` is set there are others, which moreJobs gives. Together they are every one. The whole state then comes through
  # `feed`, and what changes of a job after it was listed.

  commit @1 (commit :Types.Commit) -> (answer :Types.CommitAnswer, tickets :List(Data));
  # Success: what the answer says is on disk. A repeat with the same epoch and sequence changes nothing and gets the
  # first answer. Calls are taken in the order of their sequences. Answered with outcome superseded once another connection
  # speaks for the agent. A new job is refused unless its user has logged in over this connection (authenticate, vouch), and may
  # run it as the system user that it names. `tickets`: by which monitors know the launches of what is granted
  # (rpc/launch_ticket.h), parallel to the answer's grants; as those of the method `tickets`, and made anew for a repeat.

  authenticate @2 (token :Text, from :Text) -> (caller :Types.Caller, user :UserPort);
  # For a client that logged in at the agent, whose address is `from`, for the audit log; empty: not known. Fails as Denied
  # unless the token's role is submit or operate; as Conflict before attach.

  declineOffers @3 (jobs :List(Data), untried :List(Data)) -> ();
  # These jobs were offered (AgentFeed.update), no slot was found for them, and no commit says so; of those `untried` no
  # task could have been placed, whatever is free. Ignored for jobs that are not offered, and from a connection that does
  # not speak for their agent.

  moreJobs @4 () -> (jobs :List(Types.JobAssignment), more :Bool);
  # The next of the jobs that the answer to attach did not list, as they are now. Of those that are still to be listed nothing
  # comes through the feed; those that end before that are not listed. Each is given once. Fails as Conflict on a connection
  # that does not speak for an agent.

  piece @5 (job :Data, user :Text, bytes :UInt64, number :UInt32, files :List(Types.InputFile)) -> (isThere :Bool);
  # Input files of a job to come, as Upload.add has them: the piece of this number, of `bytes` in all. Success: it is on disk, for
  # a commit of this connection that names all pieces by JobRecord.filePieces. `isThere`: the user's job is there already, and
  # nothing was stored; a commit without them finds it. Pieces that no commit has named go when the connection ends, when a minute
  # passes without another one, and with the master. Number 0 begins anew. Fails as Exhausted where the store has too many files,
  # as Conflict while another agent sends files of the job, or as moreJobs does, and as Invalid.

  leaseNumbers @6 (count :UInt32) -> (first :UInt64);
  # So many numbers, at most 100,000, for late-bound jobs of the agent: no job ever gets one of them otherwise. Fails as moreJobs
  # does. A repeat gives others.

  vouch @7 (user :Text, from :Text) -> (caller :Types.Caller, user :UserPort);
  # For a client that logged in at the agent without a token, over a Unix socket: the kernel of the agent's machine says that it
  # is this user. Fails as Denied where the master does not take this agent's word for that, and for root always; as Conflict
  # before attach.

  tickets @8 (allocations :List(UInt64)) -> (tickets :List(Data));
  # For launches of tasks that are starting, of jobs of the agent's: parallel to the allocations, at most 1,000; empty where
  # there is none: the allocation is nobody's or another agent's, or no monitor stands for its server now. Reads only.

  lateGrant @9 (user :Text, runAs :Text) -> (grant :Late.LateGrant);
  # For late-bound jobs of the user, whose tasks run as this system user: for an hour. Fails as Denied where the user has not
  # logged in over this connection, or may not run jobs so, and as Conflict before attach. Reads only.
}

interface AgentFeed {
  update @0 (servers :List(Types.ServerUpdate), platforms :List(Types.Platform), settings :Types.QualitySettings,
             assignments :List(Types.JobAssignment), snapshotComplete :Bool, checksum :StateChecksum,
             offers :List(JobOffer), queue :QueueNews, shares :List(UserShares), superseded :Bool)
      -> (differs :Bool);
  # News, in order. The master sends the next only when this one is answered, and joins what gathers meanwhile, so a slow
  # agent costs it no memory beyond one state per server. Null or empty fields carry no news. The first updates after
  # attach carry every server and platform; `snapshotComplete` marks the last of them. `checksum`, every 5 to 10 s, is of
  # the state as it is once this message has been taken. Answered with `differs`, the agent has dropped its copy: what
  # follows carries every server and platform again, as after attach. `offers`: waiting jobs of the agent that are to be
  # tried now, in this order; each is answered by a commit for it or by AgentPort.declineOffers. Waiting jobs are tried only
  # when offered, but for restart delays that end and waits that reach their bound. `shares`: of users, who have one each
  # unless another number is told. `superseded`: another connection speaks for the agent, and this process ends; an older one
  # learns it from the answer to its next commit.

  revoked @1 (serials :List(UInt64)) -> ();
  # All certificates that are revoked and have not expired: from now on nobody gets in with one, and whoever did is
  # disconnected. After attach where there are any, and when that changes. A repeat changes nothing.
}

struct UserShares {
  # Of the cluster, beside those of other users: for late-bound tasks, which the master does not order.
  user @0 :Text;
  shares @1 :UInt32;
}

struct JobOffer {
  # An offer to place a waiting job, to be answered by a commit for the job or by AgentPort.declineOffers.
  job @0 :Data;
  bound @1 :Int64 = -1;
  # Microseconds from now for which the job is to wait for a slot that is good enough, by the rate at which units came free
  # before; -1: not known. The shortest bound received during one wait counts; without any, the job's own, else the agent's.

  mayUseReserved @2 :Bool;
  # Whether the job may use all reserved servers (QueueNews.reserved): it comes before the jobs that they are reserved for,
  # ends in time (backfill), or is the only one with a reservation.

  usableReserved @3 :List(UInt32);
  # Where mayUseReserved is false: the servers of QueueNews.reserved, ascending, that it may use all the same.
}

struct QueueNews {
  pendingPriority @0 :Int16 = -1;
  # The highest priority of a waiting job that is still to be offered on the state as it is; -1: there is none. The agent
  # submits a new job of no higher priority untried (without claims); it is offered when those ahead of it have been.

  capacityVersion @1 :UInt64;
  # How often the state has changed in favour of waiting jobs, as of what came with this message or before. A commit says on
  # which version it was decided: a job whose attempt failed on an older one is offered again.

  reserved @2 :List(UInt32);
  # Servers, ascending, that are reserved for waiting jobs: for one that has waited for long, and for those that victims are
  # being ended for. Other jobs use them only where their offer says so or where their priority is above pendingPriority.

  crowded @3 :Bool;
  # So many jobs wait that slots are judged without the margin of the settings.

  waiting @4 :UInt32;
  # Jobs that wait, to two binary digits; 0 where slots are not ranked by worth.

  waitingTasks @5 :UInt32;
  # The same of their tasks, of which nothing but a slot is wanting.
}

struct StateChecksum {
  sum @0 :UInt64;
  # Of core/state/state_checksum over the states of all servers, modulo 2^64.
  facts @1 :UInt64;
  # The same over their facts. 0: an older master, which says nothing of them.
}

interface MonitorPort {
  attach @0 (monitor :Text, servers :List(Types.ServerFacts), tasks :List(Types.KnownTask), control :MonitorControl)
      -> (drop :List(UInt64), stop :List(UInt64), lease :UInt64, ticketKey :Data, grantKey :Data);
  # Once per connection, first. `monitor` is a random identity kept in the monitor's data folder. `tasks` are all that
  # it has recorded and not forgotten. Success: the servers are up and may be given tasks. `drop`: unknown to the master
  # or given to others; the monitor kills them and forgets them without a report. `stop`: to be stopped as by
  # MonitorControl.stop. Fails as Conflict while another attached monitor claims one of the servers. `lease`, in
  # microseconds: see renew. `ticketKey`: by which tickets of launches are checked for as long as the connection stands, and
  # until the next attach; empty from a master of an earlier version: none are. `grantKey`: the public key of the grants of
  # late-bound tasks (AgentPort.lateGrant), which are signed by it until they end; empty as ticketKey.

  report @1 (reports :List(Types.TaskReport)) -> ();
  # Success: durable; tasks that ended may be forgotten. A repeat changes nothing. A task that started under an
  # allocation that is in nobody's use is to be stopped: MonitorControl.stop follows. Fails as Conflict once another
  # connection speaks for the monitor: attach anew and report again.

  files @2 (job :Data, piece :UInt32) -> (files :List(Types.InputFile), pieces :UInt32);
  # The job's input files, as Upload.add has them: the piece of this number, from 1 on, of `pieces`. 0, as monitors of earlier
  # versions ask, is all of them, and fails as Invalid where they are several. Fails as NotFound once the job is over, and
  # where there is no such piece. Reads only.

  authenticate @3 (token :Text) -> (caller :Types.Caller);
  # For an agent that logged in at the monitor. Fails as Denied unless the token's role is agent. Reads only.

  renew @4 (starting :List(UInt64)) -> (refused :List(UInt64));
  # Success: for `lease` from when the monitor asked, tasks of exclusive jobs on its servers are given to nobody else; when
  # that ends without another renewal they must have ended. An exclusive task starts only after an answer to a renewal
  # that names it in `starting`: those `refused` are in nobody's use here any more and are never started. Fails as Conflict
  # as report does.

  pressure @5 (servers :List(ServerPressure), pools :List(PoolPressure)) -> ();
  # What the monitor measures of its servers now, and what their late-bound tasks cause; replaces what it told before of
  # each of them. Success: noted, and on its way to every agent where it changed. Not on disk: a monitor tells it after each
  # attach, and a master that has just started takes the background for 0 until then, and what late-bound tasks cause after
  # each attach. Servers that the connection does not stand for are ignored. A repeat changes nothing. A master that does not
  # know this method says so (unimplemented); the monitor then goes on without.

  violations @6 (violations :List(Performance.Violation)) -> ();
  # Tasks that fall short of what their jobs expect, and those that did and do no longer. Success: noted. Not on disk: a
  # monitor tells all that are degraded after each attach. Allocations that the connection does not stand for are
  # ignored. A repeat changes nothing. A master that does not know this method says so, as for pressure.

  pools @7 (reports :List(PoolReport)) -> (answers :List(PoolAnswer));
  # The units of its servers that late-bound tasks run on. Success: on disk; each report that is answered was handled once,
  # and a repeat gets the same answer. Reports of servers that the connection does not stand for, and of an earlier start
  # of the monitor, get none. Fails as Conflict as report does.

  leave @8 () -> ();
  # The monitor is about to stop its tasks and to end. Success: its servers are given nothing more on this connection;
  # reports are still taken. Not on disk. A repeat changes nothing.

  performance @10 (samples :List(Performance.Sample)) -> ();
  # What watched tasks reach now, of those that have not been told yet or of which it has moved. Success: noted. Not on disk: a
  # monitor tells all of them after each attach. In everything else as violations.

  attachMore @9 (servers :List(Types.ServerFacts), tasks :List(Types.KnownTask)) -> (drop :List(UInt64), stop :List(UInt64));
  # After attach, before anything else, where the monitor stands for more servers than one call is to have: the next of them,
  # with their tasks. In everything else as attach. Fails as Conflict also where another connection speaks for the monitor.

  secrets @11 (allocation :UInt64) -> (secrets :List(Secrets.TaskSecret));
  # What the task is to find in its files, which has not started yet and is on a server of this connection; by the master's own record
  # of its job. Success: that it was given is in the audit log. Fails as NotFound where one is not there or not granted any more, as
  # Denied where no such task is starting there, and as Conflict where the master cannot read one. Reads only.
}

struct PoolReport {
  # At most one a server is under way, repeated until it is answered.
  server @0 :Text;
  incarnation @1 :UInt64;             # rises with every start of the monitor, which begins without units
  sequence @2 :UInt64;                # from 1 in each incarnation
  wanted @3 :UInt32;                  # units that the pool would have in all
  returned @4 :List(UInt16);          # units on which no task runs, and none will
  least @5 :UInt32;                   # of those wanted, so many whatever committed jobs wait for
}

struct PoolAnswer {
  server @0 :Text;
  incarnation @1 :UInt64;
  sequence @2 :UInt64;
  granted @3 :List(UInt16);           # in the pool from now on
}

struct PoolLimit {
  server @0 :Text;
  revision @1 :UInt64;                # the highest counts
  units @2 :UInt32;                   # that the pool is to have at most; the others go back as tasks on them end
}

struct ServerPressure {
  server @0 :Text;
  background @1 :Data;                # pressures that no managed task explains; 0 for what is absent
  absent @2 :List(AbsentPressure);
  tasks @3 :List(TaskPressure);       # of those that were measured for long enough
}

struct TaskPressure {
  # What one task puts on its server, as it arrives there.
  allocation @0 :UInt64;
  caused @1 :Data;                    # 0 where it was not measured
  measured @2 :List(UInt8);           # resources, each its place in the order of resources, from 0
}

struct PoolPressure {
  # What the late-bound tasks of a server cause together, as the profiles of their jobs say. Counts like what other tasks
  # cause, and not like the background.
  server @0 :Text;
  caused @1 :List(Int32);             # by resource
}

struct AbsentPressure {
  # A resource whose pressure cannot be measured there.
  resource @0 :UInt8;                 # its place in the order of resources, from 0
  reason @1 :Text;                    # for people
}

interface MonitorControl {
  stop @0 (allocations :List(UInt64)) -> ();
  # Success: noted; the end of each will be reported. SIGTERM, the task's grace period, SIGKILL. An allocation that the
  # monitor does not know is refused if its launch comes later, and reported as cancelled. A repeat changes nothing.

  resize @1 (allocation :UInt64, rus :List(UInt16)) -> ();
  # Success: the task has the cores and the memory of these units of its server, in place of what it had. Fails as NotFound
  # for a task that is not running here. A repeat changes nothing.

  limitPools @2 (limits :List(PoolLimit)) -> ();
  # Success: noted; units go back by MonitorPort.pools. Told again after each attach while it holds.

  throttle @3 (allocation :UInt64, cpu :Float64, disk :Float64, network :Float64 = 1, cacheWays :Float64 = 1,
               memoryBandwidth :Float64 = 1) -> ();
  # Success: the task may use these shares, in (0, 1], of its cores' time, of the rate at which it used disks and network, of
  # the last-level cache and of the memory bandwidth, until another call, or the connection ends: then it is throttled no more. Fails as NotFound for a task that is not running
  # here, as Unavailable where the machine cannot throttle it. A repeat changes nothing.

  revoked @4 (serials :List(UInt64)) -> ();
  # As AgentFeed's.
}

interface UserPort {
  # What users ask of the shared state; bound to the caller that logged in. Jobs of others look as if they were not
  # there, unless the role is operate. For role read all calls fail as Denied that are not marked forReaders.

  job @0 (id :Data, firstTask :UInt32) -> (job :JobDetails) $Types.forReaders;
  # Of its tasks those from `firstTask` on, at most 2,000. Fails as NotFound. Reads only.

  jobs @1 (limit :UInt32, filter :JobFilter, after :JobPosition) -> (jobs :List(JobSummary), next :JobPosition) $Types.forReaders;
  # The newest that pass the filter, newest first; with `after`, those behind that place. At most 1,000, after a look at
  # no more than 2,000: where `next` is not null there may be more behind it, also when `jobs` is empty. Fails as
  # NotFound where `after` has no time and names a job that is not there. Reads only.

  find @2 (prefix :Text, number :UInt64) -> (ids :List(Data), numbers :List(UInt64)) $Types.forReaders;
  # Ids of jobs whose 32 hexadecimal digits begin so, or of the one with this number where one is given; at most two are given,
  # enough to see that a prefix is not unique.

  wait @3 (id :Data) -> (state :Types.RunState) $Types.forReaders;
  # Answered when the job has ended and that is on disk; at once if it has. Repeat it after a lost connection.

  locate @4 (id :Data, task :UInt32, after :UInt64, only :UInt64)
      -> (allocation :UInt64, server :Text, address :Text, state :Types.RunState) $Types.forReaders;
  # Where the task runs or ran last: answered when it has been started or is over; `allocation` is 0 for a task
  # that ended without ever having one. With `after`, an allocation of it that has ended: answered when it has been started
  # since or is over. With `only`, an allocation of it: where that is or was, at once, with the state of the task, lost for an
  # attempt that was followed by another; fails as NotFound where the task remembers no such allocation.

  cancel @5 (id :Data) -> (state :Types.RunState);
  # Success: the wish is on disk; queued tasks are cancelled, running ones are being stopped. `state` is the job's when
  # the wish came: where it was over, the wish has no effect. Fails as NotFound. A repeat changes nothing.

  decisions @6 (id :Data) -> (decisions :List(Types.DecisionRecord), servers :List(Types.ServerName)) $Types.forReaders;
  # Why the job's tasks are where they are, and the names of the servers that the explanations number. Reads only.

  servers @7 (first :UInt32) -> (servers :List(ServerDetails), warning :Text, next :UInt32) $Types.forReaders;
  # By number from `first` on, at most 500 and some 1 MiB, without their tasks; `next` is the number to go on with, 0 where
  # there are no more. `warning` is for people: what is wrong with the master, empty where nothing is. Reads only.

  server @8 (name :Text) -> (server :ServerDetails) $Types.forReaders;
  # Fails as NotFound. Reads only.

  settings @9 () -> (settings :Types.QualitySettings) $Types.forReaders;
  setSettings @10 (settings :Types.QualitySettings) -> ();
  # Role operate. Success: on disk and on its way to every agent. `version` is ignored. Fails as Invalid, naming each
  # field. A repeat sets the same again.

  platforms @11 (after :Text) -> (platforms :List(Types.Platform), next :Text) $Types.forReaders;
  # By name behind `after`, at most 1,000; `next` is the name to go on with, empty where there are no more. Reads only.

  setPlatform @12 (platform :Types.Platform) -> ();
  # Role operate. As setSettings.

  agents @13 (after :Text) -> (agents :List(AgentDetails), warning :Text, next :Text) $Types.forReaders;
  # In pages as for platforms; `warning` as for servers. Reads only.

  steerServers @14 (names :List(Text), change :ServerChange, deadline :UInt64) -> ();
  # Role operate. Success: on disk and on its way to every agent, for all of them; fails as NotFound, with nothing changed,
  # where one is not there. `deadline`, for drain: microseconds that tasks may go on by themselves. A repeat changes
  # nothing, but for a drain whose deadline counts anew.

  watchDrain @15 (name :Text, seen :UInt32) -> (tasks :UInt32, draining :Bool) $Types.forReaders;
  # Answered when the server has another number of tasks than `seen`, or is not being drained. Fails as NotFound. Reads
  # only.

  usage @16 (after :Text) -> (users :List(Types.Usage), next :Text) $Types.forReaders;
  # The caller's own; everybody's for role operate, in pages as for platforms. Reads only.

  backup @17 (folder :Text) -> ();
  # Role operate. Success: `folder`, an absolute path on the master's machine that was not there or was empty, holds a
  # copy of the store that has everything answered before the call; it is on disk. Fails as Invalid where the folder
  # cannot be used, as Conflict while another backup is taken. After a failure, or when the connection was lost, the
  # folder is either whole or not there. A repeat finds the folder taken.

  queue @18 (limit :UInt32) -> (jobs :List(WaitingJob), waiting :UInt32) $Types.forReaders;
  # The head of the queue, of at most `limit` (1,000) jobs, in order; of them, those that the caller may see. `waiting`:
  # all jobs that wait, seen or not. Reads only.

  buckets @19 (first :UInt32) -> (buckets :List(Bucket), next :UInt32) $Types.forReaders;
  # Those with servers, by number from `first` on, at most 1,000; `next` as for servers. Reads only.

  setShares @20 (user :Text, shares :UInt32) -> ();
  # Role operate. Success: on disk. Where users of one priority wait, units go to them in proportion to their shares, which
  # are 1 to 1,000; 1 where nothing was set. Fails as Invalid. A repeat sets the same again.

  profiles @21 (after :ProfilePosition) -> (profiles :List(Profiles.StoredProfile), profilings :List(Profiles.Profiling),
                                            observed :List(Profiles.ObservedProfile), next :ProfilePosition) $Types.forReaders;
  # Those stored for all, by name, and the users' own, of which each is told theirs and role operate all; then the applications that are being measured, or whose measurement failed, by name. Only
  # the user whose job it was and role operate are told why it failed. Then what was observed of the caller's runs, and for
  # role operate of everybody's, by user and name. Of all these, those behind `after`, some 1 MiB at most; where `next` is
  # not null there are more behind it. Reads only.

  profile @22 (application :Text, user :Text) -> (profile :Profiles.StoredProfile, observed :Profiles.ObservedProfile)
      $Types.forReaders;
  # The one of this name, the user's own before that for all; for NAME@VERSION where none of that version is stored, the one
  # of NAME; and what was observed of the runs of `user` under the name that is stored. Either may be missing. An empty `user` is the caller; another's is for
  # role operate. Fails as NotFound where both are missing. Reads only.

  storeProfile @23 (profile :Types.Profile, note :Text) -> ();
  # Success: on disk. Adds it, or replaces the one of its application: what role operate stores counts for all, what others
  # store for their own jobs. Fails as Invalid, and as Exhausted where too many are stored. A repeat stores the same again,
  # as the next revision.

  steerJob @25 (id :Data, change :JobChange, priority :UInt8) -> ();
  # Success: on disk; of a job that is over nothing changes. Fails as NotFound, and as Invalid for a priority above 100. A
  # repeat changes nothing.

  deleteProfile @24 (application :Text, user :Text) -> ();
  # Success: on disk. The own profile of `user` (empty: the caller; another's is for role operate), and what was observed of
  # their runs; for role operate, where there is no own one and no `user` is named, the one for all. Fails as NotFound where
  # there is none of these, also for a repeat, and as Denied where there is only one for all.

  promoteProfile @26 (application :Text, user :Text) -> ();
  # For role operate: the own profile of `user` (empty: the caller) counts for all from now on, with what was observed of
  # their runs; where they have none, that becomes part of the one for all, or is stored as one. For others: what was
  # observed of their runs becomes part of their own profile. What was observed is counted anew from then on. Success: on
  # disk. Fails as NotFound where there is nothing to promote, and as Denied for another user.

  addCron @27 (cron :Crons.CronSpec, replace :Bool) -> ();
  # Success: on disk; from now on the master makes a job of it at each of its times. A repeat with the same id changes
  # nothing. Fails as Invalid with nothing changed, also where the caller has a cron of this name; with `replace`, that one gets
  # schedule and job, and keeps its id, its jobs and whether it is held. Fails as Denied where the
  # caller may not run jobs as the user that it names, and as Exhausted where there are too many.

  crons @28 (after :CronPosition) -> (crons :List(CronDetails), next :CronPosition) $Types.forReaders;
  # The caller's, for role operate everybody's, by user and name, those behind `after`: some 1 MiB at most, without what
  # their jobs are to do; where `next` is not null there are more. Reads only.

  cron @29 (user :Text, name :Text) -> (cron :CronDetails) $Types.forReaders;
  # An empty `user` is the caller; another's are for role operate. Fails as NotFound. Reads only.

  steerCron @30 (user :Text, name :Text, change :CronChange, job :Data) -> ();
  # Success: on disk. `user` as for cron. Fails as NotFound, also for a repeated removal. `job`, for run: the id of the job,
  # made by the client; a repeat finds the job and makes no second one. run fails as Conflict while the last job has not
  # ended (but where the cron starts jobs beside each other) and within a minute of the last one, and as Unavailable and
  # Exhausted where no job can be made now.

  foreseeAfter @31 (spec :Types.JobSpec) -> (cancelled :Bool, reason :Text) $Types.forReaders;
  # What would become of a job of the caller's with these `after`, `tasks`, `secrets` and application of its profile, the only fields
  # that count: whether it would be cancelled at once, and why, or why tasks of it would wait; empty where none would. Fails as Invalid
  # where it may not name these jobs or secrets. Reads only.

  changes @32 (instance :UInt64, after :UInt64)
      -> (instance :UInt64, next :UInt64, jobs :List(JobSummary), servers :List(ServerDetails), waiting :UInt32, missed :Bool)
      $Types.forReaders;
  # For whoever keeps a copy: jobs that the caller may see and servers, of their tasks those that are watched, that have changed behind `after`, each
  # once, as it is now; at most 1,000 of both and some 1 MiB. Held until something has. `instance` and `next` are what to ask with
  # next; with others than a master gave, at first 0, the present ones are answered at once, and `missed`: what came between is not
  # known, and everything is to be asked for anew. `waiting`: all jobs that wait. Fails as Exhausted where too many wait. Reads only.

  inviteMember @33 (role :Members.MemberRole, name :Text, life :UInt64) -> (word :Text, until :Int64);
  # Role operate. Success: on disk. `word`: with which a machine joins the cluster, once, under this role and name, within
  # `life` microseconds; an earlier one for the name is void. Fails as Invalid; as Denied for a master unless asked over the
  # Unix socket of this one, whose word is void when another one leads; as Conflict where the name has a certificate that is
  # good, the cluster has no authority, or is to have another master and its store is in a folder. A repeat gives another word,
  # and the one before is void.

  members @34 (after :Members.MemberPosition) -> (members :List(Members.Member), next :Members.MemberPosition) $Types.forReaders;
  # Role operate. By role, then name, without their words; those behind `after`, at most 1,000. Where `next` is not null there
  # are more. Reads only.

  revokeMember @35 (role :Members.MemberRole, name :Text) -> ();
  # Role operate. Success: on disk, and told to agents and monitors: no certificate of that name lets anybody in, nor does a
  # word that is out for it. Fails as NotFound. A repeat changes nothing.

  loginEnds @36 () -> () $Types.forReaders;
  # Answered when what the caller logged in with no longer makes them who they were: a token that was taken away or expired, a
  # user whose rights changed. From then on every call of this port fails as Denied. Reads only.

  users @37 (after :Text) -> (users :List(People.User), next :Text) $Types.forReaders;
  # Those that operators made known: the caller; everybody for role operate, in pages as for platforms. Reads only.

  setUser @38 (seen :People.User, next :People.User) -> ();
  # Role operate. Success: on disk, and logins of the user that give other rights end. `seen`: the user as the caller saw them;
  # null where they are to be added. Fails as Invalid with nothing changed, also where they are there or not against that, where
  # the account is not, and where nobody would be an operator; as Conflict where they are not as seen. A repeat of a change is
  # such a Conflict, and one of an addition Invalid.

  removeUser @39 (name :Text) -> ();
  # Role operate. Success: on disk; the user's expiring tokens are gone, and logins with them end. Fails as Invalid, with nothing
  # changed, where they are not there, also for a repeat, and for the last operator.

  accounts @40 (after :Text) -> (accounts :List(People.Account), next :Text) $Types.forReaders;
  # The one that bounds the caller's jobs; all for role operate, in pages as for platforms. Reads only.

  setAccount @41 (seen :People.Account, next :People.Account) -> ();
  # Role operate. As setUser. Its bounds count from the next job, change or placement on.

  removeAccount @42 (name :Text) -> ();
  # Role operate. Success: on disk. Fails as Invalid, with nothing changed, where it is not there or has members.

  addToken @43 (user :Text, life :UInt64) -> (token :Text, id :UInt64, until :Int64) $Types.forReaders;
  # A token that lets its holder in as the user for so many microseconds, 1 s to 90 days. Success: on disk; nobody is told the
  # token again. An empty `user` is the caller; others are for role operate, and have to be known. Fails as Invalid, and as
  # Exhausted where there are too many. A repeat gives another.

  tokens @44 (after :UInt64) -> (tokens :List(People.UserToken), next :UInt64) $Types.forReaders;
  # Without their digests: the caller's; everybody's for role operate, by id behind `after`, at most 1,000; `next` is the id to go
  # on with, 0 where there are no more. Reads only.

  revokeToken @45 (id :UInt64) -> () $Types.forReaders;
  # Success: on disk; logins with it end. Fails as NotFound, also for a repeat, and for tokens of others unless the role is
  # operate.

  revokeTokens @46 (user :Text) -> () $Types.forReaders;
  # The same of all of a user's that expire; an empty `user` is the caller, others are for role operate. A repeat changes nothing.

  audit @47 (file :UInt64, offset :UInt64, since :Int64, until :Int64, user :Text, action :Text)
      -> (lines :List(Data), file :UInt64, nextFile :UInt64, nextOffset :UInt64, more :Bool, head :UInt64, hash :Data);
  # For role operate. The audit log (docs/audit.md) from this byte of this file on; 0, 0: from its beginning. Lines without their
  # ends, those that pass: from the wall-clock time `since` on, before `until`, of this user, of this action or of those that begin
  # so before a dot; 0 and empty: any. Of one file, `file`, at most, 1 MiB of it, so that there may be none, and more to come: go on
  # with `nextFile` and `nextOffset` while `more`, and later for what has come since. `head` and `hash`: the last entry that is
  # stored, 0 where there is none. Fails as Conflict where this master keeps no log. Reads only.

  stepDown @48 (term :UInt64) -> ();
  # Role operate. The master, where its term is this one, leads no more: what it has answered is on disk, its connections end, and
  # another one leads at once. In any other term nothing happens, so a repeat does no harm. Fails as Invalid where there is only
  # one master.

  putSecret @49 (owner :Text, name :Text, value :Data) -> (version :UInt64);
  # A secret of the caller's, or another value of it, of at most 64 KiB; an empty `owner` is the caller, others are for role operate,
  # here and below. Success: on disk, sealed. Fails as Invalid, as Exhausted where there are too many, and as Conflict where the master
  # has no key for secrets. A repeat is another version of the same value.

  secrets @50 (after :Secrets.SecretPosition) -> (secrets :List(Secrets.Secret), next :Secrets.SecretPosition) $Types.forReaders;
  # Without their values: those of the caller, and those that jobs of the caller's get; all for role operate. By owner, then name,
  # those behind `after`, at most 1,000; where `next` is not null there are more. Reads only.

  grantSecret @51 (owner :Text, name :Text, grant :Secrets.SecretGrant, revoke :Bool) -> ();
  # Jobs get it from now on, or do no more; what tasks have that run, they keep. Success: on disk. Fails as NotFound, Invalid, and as
  # Exhausted where there are too many grants. A repeat changes nothing.

  deleteSecret @52 (owner :Text, name :Text) -> ();
  # Success: on disk; no task gets it any more. Fails as NotFound, also for a repeat.

  rekeySecrets @53 () -> (sealed :UInt32, left :UInt32);
  # Role operate. Seals values anew that are sealed with another key than the master's first, at most 1 MiB of them or one. Success:
  # on disk; `left` are still to be sealed, by another call. Fails as Conflict where the master has no key, or not the one of such a
  # value.
}

enum CronChange { hold @0; release @1; run @2; remove @3; }
# hold: it makes no jobs, and its times pass. release: from now on it makes them again. run: one job now. remove: it is
# gone; jobs that it made go on.

struct CronPosition {
  user @0 :Text;
  name @1 :Text;
}

struct CronDetails {
  cron @0 :Crons.Cron;                # with the jobs' states as they are now, where the master knows them
  next @1 :List(Int64);               # wall-clock times that come, the next first, at most five; none while it is held
  problem @2 :Text;                   # why it cannot be run at all; empty where it can
}

enum JobChange { hold @0; release @1; priority @2; rerun @3; }
# hold: no further task of the job starts; those that run go on. release: its tasks start again, in the queue's order.
# priority: it has another from now on.

enum ServerChange { cordon @0; uncordon @1; drain @2; remove @3; }
# cordon: no new tasks. uncordon: new tasks again; ends a drain and a quarantine too. drain: cordon, and the tasks go
# elsewhere. remove: nothing counts on it until it comes up again; it must be down, without tasks.

struct JobFilter {
  user @0 :Text;                      # submitted by; empty: whoever the caller may steer
  name @1 :Text;                      # part of the job's name
  states @2 :List(Types.RunState);    # in one of them; empty: any
  since @3 :Int64;                    # submitted at this wall-clock time or later
}

struct JobPosition {
  # A place in the order of submission; a job that stood there may be gone.
  submitted @0 :Int64;                # wall-clock time; 0: that of the job
  id @1 :Data;
}

struct ProfilePosition {
  # A place in what `profiles` tells.
  list @0 :List;
  user @1 :Text;                      # of what was observed, or owns a profile
  application @2 :Text;
  enum List { stored @0; profilings @1; observed @2; }
}

struct JobDetails {
  job @0 :Types.JobRecord;
  progress @1 :Types.JobProgress;
  tasks @2 :List(Types.TaskRecord);   # in order, from the one that was asked for
  ahead @3 :UInt32;                   # waiting jobs before it; only in an answer that begins with its first task
  expectedStart @4 :Int64;            # wall-clock time; 0: not known. The same
  violations @5 :List(TaskViolation); # of `tasks`
  steps @6 :List(Performance.Step);   # what was done for its tasks, newest last; with its first task
  charges @7 :List(TaskCharge);       # of `tasks` that were measured
  nextTask @8 :UInt32;                # the task to go on with; 0: there are no more
  inState @9 :List(UInt32);           # all of its tasks, by RunState
}

struct TaskCharge {
  task @0 :UInt32;
  caused @1 :Data;                    # what placement takes it to cause
  measured @2 :List(UInt8);           # resources of that which were measured; the others are as its profile says
}

struct TaskViolation {
  task @0 :UInt32;
  server @1 :Text;
  violation @2 :Performance.Violation;
  neighbours @3 :List(Text);          # for people: who each cause's neighbour is; empty where there is none
  job @4 :Data;
  number @5 :UInt64;                  # of the job
}

struct WaitingJob {
  job @0 :JobSummary;
  priority @1 :UInt8;
  ahead @2 :UInt32;                   # waiting jobs before it
  rusPerTask @3 :UInt32;
  gang @4 :Bool;
  expectedStart @5 :Int64;            # wall-clock time by which it should start with a probability of 0.95; 0: not known
  liftedPriority @6 :UInt8;           # what it counts as, after it has waited; no less than `priority`
}

struct Bucket {
  # Servers of one platform and like contention.
  number @0 :UInt32;
  platform @1 :Text;
  servers @2 :UInt32;
  free @3 :UInt64;                    # resource units
  mean @4 :Data;                      # contention, a byte for each resource
  enteredPerHour @5 :Float64;         # resource units that came free there, or with a server whose contention changed, less
                                      # those that left so; of the last two hours
}

struct JobSummary {
  id @0 :Data;
  name @1 :Text;
  user @2 :Text;
  reason @3 :Text;
  state @4 :Types.RunState;
  tasks @5 :UInt32;
  queued @6 :UInt32;
  active @7 :UInt32;                  # starting or running
  succeeded @8 :UInt32;
  failed @9 :UInt32;
  submitted @10 :Int64;               # wall-clock time
  finished @11 :Int64;                # wall-clock time
  number @12 :UInt64;                 # 0: none
}

struct ServerDetails {
  id @0 :UInt32;
  facts @1 :Types.ServerFacts;
  status @2 :Types.ServerStatus;
  contention @3 :Data;                # as a newcomer would feel it
  tasks @4 :List(Task);
  struct Task {
    job @0 :Data;
    index @1 :UInt32;
    allocation @2 :UInt64;
    rus @3 :List(UInt16);
    caused @4 :Data;
    tolerated @5 :Data;
    over @6 :List(UInt8);             # resources on which it feels more than it tolerates
    extras @7 :List(Types.HeldExtra);
    charged @8 :Data;                 # what placement takes it to cause: `caused`, or what was measured
    measured @9 :List(UInt8);         # resources of `charged` that were measured
    throttledCpu @10 :Float64 = 1;    # what it may use while it is throttled, as MonitorControl.throttle has it
    throttledDisk @11 :Float64 = 1;
    throttledNetwork @12 :Float64 = 1;
    throttledCacheWays @13 :Float64 = 1;
    throttledMemoryBandwidth @14 :Float64 = 1;
    jobNumber @15 :UInt64;
    performance @16 :Performance.Reached;  # null: not watched, or not told yet
  }
  reason @5 :Text;                    # why it takes no new tasks; empty where it does, or is only down
  draining @6 :Bool;
  drainAt @7 :Int64;                  # wall-clock time until which its tasks may go on by themselves, 0: no longer
  asideUntil @8 :Int64;               # end of its quarantine, 0: it is in none
  refusedClaims @9 :UInt64;           # since the master's start
  neverStarted @10 :UInt32;           # launches that failed in a row by the server's fault
  absent @11 :List(AbsentPressure);   # what the background does not hold, as the monitor told last
  violations @12 :List(TaskViolation);
  autoCordoned @13 :Bool;                 # takes no new tasks for a while, since a task on it is degraded
  pool @14 :List(UInt16);             # units that late-bound tasks run on
  poolCaused @15 :List(Int32);        # what these tasks cause together, by resource; empty: nothing
  bucket @16 :Int32 = -1;             # in which it is, as `buckets` numbers them; -1: in none, it takes no tasks
}

struct AgentDetails {
  name @0 :Text;
  address @1 :Text;
  epoch @2 :UInt64;
  attached @3 :Bool;
  jobs @4 :UInt32;                    # unfinished ones that it owns
  behind @5 :UInt64;                  # microseconds that the oldest change it has not confirmed is old; 0: none
}
