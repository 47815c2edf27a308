@0xd27b91e6c4a85f03;
# Secrets: as the master keeps them, sealed, and as it gives them to a monitor for a task.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");

struct Secret {
  owner @0 :Text;             # a user
  name @1 :Text;              # unique among the owner's
  grants @2 :List(SecretGrant);
  key @3 :Text;               # id of the key that the value is sealed with
  nonce @4 :Data;             # 12 bytes; empty where the value is not told, as it is to nobody
  sealed @5 :Data;            # AES-256-GCM: as many bytes as the value has, and 16 of the tag
  version @6 :UInt64;         # rises with each value
  changed @7 :Int64;          # wall-clock time of this one
}

struct SecretGrant {
  # Whose jobs get it. One of both is set at least.
  user @0 :Text;              # empty: everybody's
  application @1 :Text;       # that the job says it runs; empty: any
}

struct SecretPosition {
  owner @0 :Text;
  name @1 :Text;
}

struct TaskSecret {
  name @0 :Text;              # of the file that the task finds it in
  value @1 :Data;             # at most 64 KiB
}
