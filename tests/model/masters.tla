------------------------------- MODULE masters -------------------------------
\* Several masters on etcd: docs/masters.md in short. tests/model/masters_model.cc searches the same states, and plants
\* the mistakes that a guard marked (*) keeps out.
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Masters, Nobody, Lease, End, MaxTerm, MaxBatches

VARIABLES
  now,                        \* real time, in ticks
  leader, term, leaseEnd,     \* etcd: whose the leader's key is, its create revision, when its lease may end
  journal, folded, records,   \* etcd: batches written, how many of them are in the records, the records
  role, deadline, tail, pending, \* each master: [leads, term], its own count of its lease, what it knows, its batch
  messages,                   \* on their way; any may be lost, late, or overtaken
  toldTerm, acknowledged, nextId \* what the outside has seen; batches are numbered to tell them apart

vars == <<now, leader, term, leaseEnd, journal, folded, records, role, deadline, tail, pending, messages, toldTerm,
          acknowledged, nextId>>

Max(a, b) == IF a > b THEN a ELSE b
Standby == [leads |-> FALSE, term |-> 0]

\* Batch n writes the record n % 2.
TableAt(n) == [r \in {0, 1} |-> IF \E i \in 1..n : i % 2 = r
                                THEN journal[CHOOSE i \in 1..n : i % 2 = r /\ \A j \in i + 1..n : j % 2 # r].id
                                ELSE 0]
\* What a master loads: the records, and over them what is not folded yet.
Loaded == [r \in {0, 1} |-> IF \E i \in folded + 1..Len(journal) : i % 2 = r THEN TableAt(Len(journal))[r] ELSE records[r]]

Init ==
  /\ now = 0 /\ leader = Nobody /\ term = 0 /\ leaseEnd = 0
  /\ journal = <<>> /\ folded = 0 /\ records = [r \in {0, 1} |-> 0]
  /\ role = [m \in Masters |-> Standby] /\ deadline = [m \in Masters |-> 0]
  /\ tail = [m \in Masters |-> 0] /\ pending = [m \in Masters |-> 0]
  /\ messages = {} /\ toldTerm = 0 /\ acknowledged = 0 /\ nextId = 1

Etcd == <<leader, term, leaseEnd, journal, folded, records>>
Own == <<role, deadline, tail, pending>>
Seen == <<toldTerm, acknowledged, nextId>>

\* --- Time, and what it does -----------------------------------------------------------------------------------
Tick == now < End /\ now' = now + 1 /\ UNCHANGED <<Etcd, Own, messages, Seen>>
EtcdEndsLease ==                                  \* at the end or any time later
  /\ leader # Nobody /\ now >= leaseEnd /\ leader' = Nobody
  /\ UNCHANGED <<now, term, leaseEnd, journal, folded, records, Own, messages, Seen>>
Lose(x) == messages' = messages \ {x} /\ UNCHANGED <<now, Etcd, Own, Seen>>

\* --- Leading --------------------------------------------------------------------------------------------------
Campaign(m) ==
  /\ ~role[m].leads
  /\ messages' = messages \union {[kind |-> "campaign", from |-> m, asked |-> now]}
  /\ UNCHANGED <<now, Etcd, Own, Seen>>
Ask(m) ==
  /\ role[m].leads
  /\ messages' = messages \union {[kind |-> "keep", from |-> m, term |-> role[m].term, asked |-> now]}
  /\ UNCHANGED <<now, Etcd, Own, Seen>>
EtcdElects(x) ==
  /\ x.kind = "campaign" /\ leader = Nobody /\ term < MaxTerm
  /\ leader' = x.from /\ term' = term + 1 /\ leaseEnd' = now + Lease
  /\ messages' = (messages \ {x}) \union {[kind |-> "won", from |-> x.from, term |-> term + 1, asked |-> x.asked]}
  /\ UNCHANGED <<now, journal, folded, records, Own, Seen>>
EtcdRenews(x) ==
  /\ x.kind = "keep" /\ leader = x.from /\ term = x.term /\ leaseEnd' = now + Lease
  /\ messages' = (messages \ {x}) \union {[x EXCEPT !.kind = "kept"]}
  /\ UNCHANGED <<now, leader, term, journal, folded, records, Own, Seen>>
Lead(x) ==
  /\ x.kind = "won" /\ ~role[x.from].leads
  /\ role' = [role EXCEPT ![x.from] = [leads |-> TRUE, term |-> x.term]]
  /\ deadline' = [deadline EXCEPT ![x.from] = x.asked + Lease]              \* (*) from the question, not the answer
  /\ tail' = [tail EXCEPT ![x.from] = Len(journal)]                         \* (*) read after it was elected
  /\ pending' = [pending EXCEPT ![x.from] = 0]
  /\ messages' = messages \ {x} /\ UNCHANGED <<now, Etcd, Seen>>
Renewed(x) ==
  /\ x.kind = "kept" /\ role[x.from] = [leads |-> TRUE, term |-> x.term]
  /\ deadline' = [deadline EXCEPT ![x.from] = Max(@, x.asked + Lease)]
  /\ messages' = messages \ {x} /\ UNCHANGED <<now, Etcd, role, tail, pending, Seen>>
Stop(m) ==                                        \* killed, refused, or its lease is over
  /\ role[m].leads
  /\ role' = [role EXCEPT ![m] = Standby] /\ pending' = [pending EXCEPT ![m] = 0]
  /\ UNCHANGED <<now, Etcd, deadline, tail, messages, Seen>>

\* --- Writing --------------------------------------------------------------------------------------------------
Begin(m) ==
  /\ role[m].leads /\ pending[m] = 0 /\ tail[m] < MaxBatches
  /\ pending' = [pending EXCEPT ![m] = nextId] /\ nextId' = nextId + 1
  /\ UNCHANGED <<now, Etcd, role, deadline, tail, messages, toldTerm, acknowledged>>
Write(m) ==                                       \* also again, where there is no answer
  /\ role[m].leads /\ pending[m] # 0
  /\ messages' = messages \union {[kind |-> "append", from |-> m, term |-> role[m].term, n |-> tail[m] + 1,
                                   id |-> pending[m]]}
  /\ UNCHANGED <<now, Etcd, Own, Seen>>
Answer(x, ok) == messages' = (messages \ {x}) \union
                 {[kind |-> "appended", from |-> x.from, term |-> x.term, n |-> x.n, id |-> x.id, ok |-> ok]}
EtcdWrites(x) ==
  /\ x.kind = "append"
  /\ IF leader = x.from /\ term = x.term /\ Len(journal) = x.n - 1          \* (*) fenced, and the next number
     THEN journal' = Append(journal, [term |-> x.term, id |-> x.id]) /\ Answer(x, TRUE)
     ELSE /\ Answer(x, Len(journal) >= x.n /\ journal[x.n].id = x.id)       \* looked up, not guessed
          /\ UNCHANGED journal
  /\ UNCHANGED <<now, leader, term, leaseEnd, folded, records, Own, Seen>>
MayTell(m) == role[m].leads /\ now < deadline[m]
Written(x) ==
  /\ x.kind = "appended" /\ role[x.from] = [leads |-> TRUE, term |-> x.term] /\ x.n = tail[x.from] + 1
  /\ x.ok /\ MayTell(x.from)                                                \* (*) not before etcd has it
  /\ tail' = [tail EXCEPT ![x.from] = x.n] /\ pending' = [pending EXCEPT ![x.from] = 0]
  /\ acknowledged' = Max(acknowledged, x.n) /\ toldTerm' = x.term
  /\ messages' = messages \ {x} /\ UNCHANGED <<now, Etcd, role, deadline, nextId>>
Tell(m) == MayTell(m) /\ toldTerm' = role[m].term
           /\ UNCHANGED <<now, Etcd, Own, messages, acknowledged, nextId>>

\* --- Folding: records brought up to date behind the journal ---------------------------------------------------
Fold(m) ==
  /\ role[m].leads /\ folded < tail[m]
  /\ messages' = messages \union {[kind |-> "fold", from |-> m, term |-> role[m].term, n |-> folded + 1]}
  /\ UNCHANGED <<now, Etcd, Own, Seen>>
EtcdFolds(x) ==
  /\ x.kind = "fold" /\ leader = x.from /\ term = x.term
  /\ folded = x.n - 1                                                       \* (*) once
  /\ folded' = x.n /\ records' = [records EXCEPT ![x.n % 2] = journal[x.n].id]
  /\ messages' = messages \ {x} /\ UNCHANGED <<now, leader, term, leaseEnd, journal, Own, Seen>>

Next ==
  \/ Tick \/ EtcdEndsLease
  \/ \E m \in Masters : Campaign(m) \/ Ask(m) \/ Stop(m) \/ Begin(m) \/ Write(m) \/ Tell(m) \/ Fold(m)
  \/ \E x \in messages : \/ Lose(x) \/ EtcdElects(x) \/ EtcdRenews(x) \/ Lead(x) \/ Renewed(x)
                         \/ EtcdWrites(x) \/ Written(x) \/ EtcdFolds(x)

Spec == Init /\ [][Next]_vars

\* --- What holds -----------------------------------------------------------------------------------------------
NothingAcknowledgedIsLost == acknowledged <= Len(journal) /\ Loaded = TableAt(Len(journal))
LeadersDoNotInterleave == \A i, j \in 1..Len(journal) : i < j => journal[i].term <= journal[j].term
NothingStaleIsTold ==         \* of every step that tells
  [][\A m \in Masters : (Tell(m) \/ \E x \in messages : Written(x) /\ x.from = m)
       => role[m].term >= toldTerm /\ tail[m] >= acknowledged]_vars
ReplayedOnce == \A r \in {0, 1} : records[r] = TableAt(folded)[r]
==============================================================================
