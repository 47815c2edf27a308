@0xb6f1d1a3c0e94a11;
# What a torture run records: one Entry after the other, packed, in the order in which the recorder sent and received.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");
using Types = import "/schema/types.capnp";

struct HistoryEntry {
  # Fields are those of the struct of the same name in history.h.
  union {
    begun :group { seed @0 :UInt64; keepFinished @1 :UInt64; }
    masterStarted @2 :Void;
    masterKilled @3 :Void;
    agentAttaching :group { call @4 :UInt64; link @5 :UInt64; agent @6 :Text; epoch @7 :UInt64; }
    agentAttached :group { call @8 :UInt64; epoch @9 :UInt64; jobs @10 :List(Types.JobAssignment); }
    commitSent :group { call @11 :UInt64; link @12 :UInt64; commit @13 :Types.Commit; }
    commitAnswered :group { call @14 :UInt64; answer @15 :Types.CommitAnswer; }
    news :group {
      link @16 :UInt64;
      servers @17 :List(Types.ServerUpdate);
      jobs @18 :List(Types.JobAssignment);
    }
    monitorAttaching :group {
      call @19 :UInt64;
      monitor @20 :Text;
      servers @21 :List(Types.ServerFacts);
      tasks @22 :List(Types.KnownTask);
    }
    monitorAttached :group { call @23 :UInt64; drop @24 :List(UInt64); stop @25 :List(UInt64); }
    reportsSent :group { call @26 :UInt64; reports @27 :List(Types.TaskReport); }
    reportsAnswered :group { call @28 :UInt64; }
    stopOrdered :group { allocations @29 :List(UInt64); }
    cancelSent :group { call @30 :UInt64; job @31 :Data; }
    cancelAnswered :group { call @32 :UInt64; }
    settled @33 :Void;
  }
}
