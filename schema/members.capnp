@0xd3a41f0b7c5e9826;
# The machines of a cluster: how they join it, and what the master keeps of them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tarcil::wire");

enum MemberRole { master @0; agent @1; monitor @2; }

struct Member {
  role @0 :MemberRole;
  name @1 :Text;
  word @2 :Data;              # SHA-256 of the word that is out for it; empty: none is. Never told to anybody
  wordUntil @3 :Int64;        # wall-clock time until which that may be used; 0: none is out
  certificates @4 :List(MemberCertificate);  # that have not expired, the oldest first
}

struct MemberCertificate {
  serial @0 :UInt64;
  from @1 :Int64;             # wall-clock time, as until
  until @2 :Int64;
  revoked @3 :Bool;
}

struct MemberPosition {
  # A place in the order of members: by role, then name.
  role @0 :MemberRole;
  name @1 :Text;
}

struct MasterKeys {
  # What all masters of a cluster have. Whoever has it has the cluster.
  authority @0 :Text;         # key of the authority, PEM
  tokens @1 :Text;            # the file of tokens, as it is
  secrets @2 :Data;           # the file of keys for secrets, as it is; empty: there is none
}

interface JoinGate {
  # What a new machine finds at the master's joining port. The master tells the certificate of its authority first, before TLS
  # begins, and the machine compares that with its word (rpc/security.h). It is nobody yet: it has 5 s.

  join @0 (word :Text, request :Text) -> (certificate :Text, master :Text, keys :MasterKeys);
  # `request`: a PKCS #10 request in PEM, for the machine's new key. Success: on disk; the word is used up. `certificate` is for the
  # role and the name that the word was made for; `master`: where roles reach the master, or all of them; `keys`: for a master, else null. Fails as Denied for a word that is not
  # out, as Invalid for what is no request. A repeat is Denied: where the answer was lost, another word is needed.
}
