// What the monitor tells tarcil-shim: one block in a memfd, and three descriptors; four where the task has
// secrets.
//
// The block is a PlanHeader, then `filter` instructions of classic BPF (8 bytes each) that judge the
// command's system calls, then `deviceFilter` instructions of BPF (8 bytes each) that judge its use of
// devices, then `groups` group ids of 32 bits, then `devices` PlanDevices, then NUL-terminated strings in
// this order:
//   task directory; mount point of the working directory (empty: none); working directory wanted (empty: the
//   private one); root file system (empty: the host's); PATH to search; cgroup v2 directory to be born in
//   (empty: none); file with the count of OOM kills, file with the peak of memory, file with the time of
//   cores (empty: none); file with the end of the lease (empty: none; shim/lease.h); program to execute,
//   whatever the first word of the command says (empty: that word is looked for); files that stdout and
//   stderr go to besides (empty: none); what such a file takes, for people; file that stdin is read from
//   (empty: none); `arguments` words of the command; `variables` NAME=value; `directories` cgroup directories
//   to make; `settings` pairs of file and value; `joins` files named "tasks" of cgroup v1; `outputJoins` such
//   files for what moves the output, of which some may not be there; `devices` paths below /dev; `shares`
//   paths of the host that the task sees as they are; `hidden` paths of the host that it does not see.
// Monitor and shim of one build understand each other; kPlanMagic changes with the layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarcil {

inline constexpr uint32_t kPlanMagic = 0x54534843;  // "TSHC"

inline constexpr size_t kFilterInstruction = 8;  // bytes

// Descriptors of the shim at its start, beside 0-2 on /dev/null.
inline constexpr int kPlanFd = 3;  // the plan, readable
inline constexpr int kLockFd =
    4;  // the task's `lock`, open for writing, flock(LOCK_EX) held; the shim writes its pid
inline constexpr int kStatusFd =
    5;  // pipe to the monitor: "ALLOCATION MICROSECONDS\n" once the command is executed

// A memfd with the task's secrets, one behind the other: a SecretHeader, the name with a NUL, the value. The
// one who has taken them out empties it.
inline constexpr int kSecretsFd = 6;
struct SecretHeader {
  uint32_t nameBytes = 0;  // with the NUL
  uint32_t valueBytes = 0;
};
// Where tasks find them: a folder in memory, which is the task's alone.
inline constexpr const char* kSecretsPoint = "/run/secrets";

// What a monitor writes into the FIFO of a streamed task's directory: what is before `offset` has arrived.
// Monitors and shims of different builds meet here, so it stays as it is.
inline constexpr const char* kTakenFifo = "taken";
struct OutputTaken {
  uint32_t stream = 0;  // 0: stdout, 1: stderr
  uint32_t unused = 0;
  uint64_t offset = 0;
};

// Asks the shim to signal the task; the siginfo's value is the signal. SIGKILL ends all processes of the
// task, any other goes to the command.
inline constexpr int kRequestSignal = 40;

// The shim's own exit status.
enum ShimStatus : int {
  kShimDone = 0,      // `exit` is written
  kShimBadPlan = 2,   // the plan cannot be read: monitor and shim are of different builds
  kShimNoRecord = 3,  // nothing can be written into the task directory; the command was not executed
};

// The problem of a task that ended with its lease.
inline constexpr const char* kLeaseEnded =
    "exclusive, and the master was out of its server's reach for longer than the lease";

// What the task can reach.
enum NetworkKind : uint32_t {
  kHostNetwork = 0,  // the host's interfaces
  kNoNetwork = 1,    // loopback of its own, and nothing else
  kOwnNetwork = 2,   // and one end of a pair of interfaces, whose other end is the host's
};

// Of a command that is a program of the server and makes the container itself.
enum Privileges : uint32_t {
  kNoPrivileges = 0,
  kPrivilegesOnServer = 1,  // root, with what it takes to make one
  kPrivilegesOfItsOwn = 2,  // the same in a user namespace of the task's: on the server it has none
};

// A node that the task has in a /dev of its own; the host's are all there, whether it may open them or not.
struct PlanDevice {
  uint32_t mode = 0;  // type and permissions, as mknod takes them
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t major = 0;
  uint32_t minor = 0;
};

// Of shares, and of hidden paths.
inline constexpr uint32_t kMaxViewPaths = 64;

struct PlanHeader {
  uint32_t magic = kPlanMagic;
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t groups = 0;  // this and what follows: how many
  uint32_t arguments = 0;
  uint32_t variables = 0;
  uint32_t directories = 0;
  uint32_t settings = 0;
  uint32_t joins = 0;
  uint32_t outputJoins = 0;
  uint32_t filter = 0;
  uint32_t deviceFilter = 0;  // needs a cgroup v2 to be born in; 0: no device is denied
  uint32_t devices = 0;
  uint32_t shares = 0;
  uint32_t hidden = 0;
  uint32_t hostView =
      0;  // 1: without a root file system of its own the task sees the host's files as they are
  uint32_t network = kHostNetwork;
  uint32_t fileSeconds = 60;  // that a disk of the user's may take to open their files, and to write the last
  uint32_t readerSeconds = 0;  // that a task waits for whoever takes its output; 0: nobody is waited for
  uint32_t privileges = kNoPrivileges;
  uint32_t secrets = 0;  // how many are in kSecretsFd; 0: there is no such descriptor
  uint32_t unused = 0;
  uint64_t networkBytesPerSecond = 0;  // each way, with kOwnNetwork; 0: no limit
  uint64_t allocation = 0;
  uint64_t outputLimit = 0;    // bytes of each of stdout and stderr
  uint64_t affinity[16] = {};  // bit i: core i; all zero leaves the affinity to the cpuset
};

}  // namespace tarcil
