#include "monitor/container/syscall_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace tarcil {
namespace {

constexpr const char* kAllowed[] = {
    // Files.
    "open", "openat", "openat2", "creat", "close", "close_range", "read", "write", "pread64", "pwrite64",
    "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "lseek", "_llseek", "truncate",
    "ftruncate", "fallocate", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "readahead",
    "fadvise64", "copy_file_range", "sendfile", "splice", "tee", "vmsplice", "dup", "dup2", "dup3", "fcntl",
    "flock", "ioctl", "pipe", "pipe2", "memfd_create", "memfd_secret",
    // Their names and attributes.
    "stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2",
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "umask", "link", "linkat", "symlink", "symlinkat", "readlink", "readlinkat",
    "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat",
    "getdents", "getdents64", "getcwd", "chdir", "fchdir", "getxattr", "lgetxattr", "fgetxattr", "setxattr",
    "lsetxattr", "fsetxattr", "listxattr", "llistxattr", "flistxattr", "removexattr", "lremovexattr",
    "fremovexattr", "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
    "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    // Waiting for files.
    "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
    "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "signalfd", "signalfd4", "timerfd_create",
    "timerfd_settime", "timerfd_gettime", "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents",
    "io_pgetevents",
    // Memory.
    "brk", "mmap", "munmap", "mremap", "mprotect", "msync", "mincore", "madvise", "mlock", "mlock2",
    "munlock", "mlockall", "munlockall", "remap_file_pages", "pkey_alloc", "pkey_free", "pkey_mprotect",
    "membarrier", "mbind", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node", "move_pages",
    "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev", "map_shadow_stack",
    "cachestat", "mseal",
    // Processes and threads.
    "clone", "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "kill", "tkill",
    "tgkill", "getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid", "setpgid", "setsid",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "set_tid_address", "set_robust_list", "get_robust_list",
    "rseq", "futex", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "arch_prctl",
    "set_thread_area", "get_thread_area", "modify_ldt", "prctl", "seccomp", "ptrace", "kcmp", "personality",
    "unshare", "restart_syscall",
    // Signals.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "rt_sigsuspend", "sigaltstack", "pause", "alarm", "getitimer", "setitimer",
    // Users, rights and limits.
    "getuid", "geteuid", "getgid", "getegid", "getgroups", "getresuid", "getresgid", "setuid", "setgid",
    "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capget", "capset",
    "getrlimit", "setrlimit", "prlimit64", "getrusage", "times",
    // Time.
    "time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "adjtimex",
    "clock_adjtime", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
    // Processors and priorities.
    "sched_yield", "sched_setaffinity", "sched_getaffinity", "sched_setparam", "sched_getparam",
    "sched_setscheduler", "sched_getscheduler", "sched_setattr", "sched_getattr", "sched_get_priority_max",
    "sched_get_priority_min", "sched_rr_get_interval", "getpriority", "setpriority", "ioprio_get",
    "ioprio_set", "getcpu", "uname", "sysinfo", "getrandom",
    // Sockets.
    "socket", "socketpair", "bind", "connect", "listen", "accept", "accept4", "getsockname", "getpeername",
    "getsockopt", "setsockopt", "shutdown", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg",
    "recvmmsg",
    // Memory, semaphores and messages of System V; message queues.
    "shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify",
    "mq_getsetattr"};

constexpr const char* kRefused[] = {
    // Modules, another kernel, the machine as a whole.
    "create_module", "delete_module", "finit_module", "get_kernel_syms", "init_module", "query_module",
    "kexec_file_load", "kexec_load", "reboot", "acct", "quotactl", "quotactl_fd", "swapoff", "swapon",
    "nfsservctl", "_sysctl", "sysfs", "uselib", "ustat", "vhangup", "migrate_pages",
    // Time, names and ports of the machine; its messages.
    "clock_settime", "settimeofday", "sethostname", "setdomainname", "ioperm", "iopl", "syslog",
    "lookup_dcookie",
    // Mounts, namespaces, files by handle instead of by path.
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "setns", "name_to_handle_at", "open_by_handle_at",
    // Keys belong to users and not to containers.
    "add_key", "keyctl", "request_key",
    // Large parts of the kernel that attacks went through.
    "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "fanotify_mark"};

// libseccomp knows this call later than kernels have it: all of them by this number. It changes a file's
// project, and so do requests to files, of which the kernel looks at the lower half alone.
constexpr uint32_t kNumberOfSetFileAttributes = 469;
const std::vector<uint32_t> kAttributeRequests = {FS_IOC_FSSETXATTR, FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS};

// CLONE_NEWTIME is one of them for unshare; in clone its bit is part of a signal.
constexpr uint32_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr uint32_t kTimeNamespace = 0x80;

const std::vector<uint32_t> kFamilies = {AF_UNIX, AF_INET, AF_INET6};  // and of netlink that for routes
constexpr uint32_t kRoutes = 0;                                        // NETLINK_ROUTE

// Of ordinary programs, of 32-bit ones, of both with an earlier release's name, without random addresses, and
// the question which one it is.
const std::vector<uint32_t> kPersonalities = {PER_LINUX,         PER_LINUX32,
                                              UNAME26,           uint32_t{PER_LINUX32} | uint32_t{UNAME26},
                                              ADDR_NO_RANDOMIZE, 0xffffffff};

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t refusal(int error) {
  return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
}

// Written from its end to its beginning, since BPF jumps forwards only: what is jumped to is there already,
// and what many end with is there once. The kernel translates and tries the program at each start of a task,
// so it is short.
class Program {
 public:
  // Of an instruction: how many there are from it to the end.
  using Label = size_t;

  Label answer(uint32_t action) {
    Label& known = answers_[action];
    if (known == 0) known = add(BPF_STMT(BPF_RET | BPF_K, action));
    return known;
  }
  // Of what the kernel says of a call.
  Label load(size_t offset, Label next) {
    if (next != size()) jump(next);
    return add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  // The lower half of an argument, 0 the first: all that the kernel looks at where this program does.
  Label loadArgument(size_t argument, Label next) {
    constexpr size_t kLowerHalf = std::endian::native == std::endian::little ? 0 : sizeof(uint32_t);
    return load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + kLowerHalf, next);
  }
  // `test`: BPF_JEQ, BPF_JGE or BPF_JSET of what is loaded with `value`.
  Label branch(uint16_t test, uint32_t value, Label ifSo, Label ifNot) {
    const Label farther = within(std::min(ifSo, ifNot), 1);
    const Label nearer = within(std::max(ifSo, ifNot), 0);
    const auto skip = [this](Label label) { return static_cast<uint8_t>(size() - label); };
    const uint8_t so = skip(ifSo < ifNot ? farther : nearer),
                  otherwise = skip(ifSo < ifNot ? nearer : farther);
    return add(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | test | BPF_K), value, so, otherwise));
  }
  Label anyOf(const std::vector<uint32_t>& values, Label ifSo, Label ifNot) {
    for (const uint32_t value : values) ifNot = branch(BPF_JEQ, value, ifSo, ifNot);
    return ifNot;
  }

  std::string bytes() const {
    const std::vector<sock_filter> forwards(reversed_.rbegin(), reversed_.rend());
    return {reinterpret_cast<const char*>(forwards.data()), forwards.size() * sizeof(sock_filter)};
  }

 private:
  // Branches reach so far.
  static constexpr size_t kFarthest = 255;

  size_t size() const { return reversed_.size(); }
  Label add(const sock_filter& instruction) {
    reversed_.push_back(instruction);
    return size();
  }
  Label jump(Label to) { return add(BPF_JUMP(BPF_JMP | BPF_JA, static_cast<uint32_t>(size() - to), 0, 0)); }
  // The label, or a jump to it, that a branch reaches when up to `more` instructions have come before it.
  Label within(Label label, size_t more) {
    if (size() + more - label <= kFarthest) return label;
    return jump(label);
  }

  std::vector<sock_filter> reversed_;
  std::map<uint32_t, Label> answers_;
};

// What is said to calls from this number on, up to the next one's.
struct Range {
  uint32_t first = 0;
  Program::Label label = 0;
};

// Goes to the range that the loaded number is in.
Program::Label search(Program& program, std::span<const Range> ranges) {
  if (ranges.size() == 1) return ranges[0].label;
  const size_t half = ranges.size() / 2;
  const Program::Label above = search(program, ranges.subspan(half));
  const Program::Label below = search(program, ranges.first(half));
  return program.branch(BPF_JGE, ranges[half].first, above, below);
}

// By the calls' numbers on this machine. A call that it does not have has none.
std::map<uint32_t, Program::Label> namedCalls(Program& program) {
  std::map<uint32_t, Program::Label> calls;
  const auto add = [&calls](const char* name, Program::Label label) {
    const int call = ::seccomp_syscall_resolve_name(name);
    if (call >= 0) calls[static_cast<uint32_t>(call)] = label;
  };
  for (const char* name : kAllowed) add(name, program.answer(kAllow));
  for (const char* name : kRefused) add(name, program.answer(refusal(EPERM)));
  return calls;
}

// What is judged by its arguments, or has no name.
void addJudged(Program& program, std::map<uint32_t, Program::Label>& calls) {
  const auto allowed = program.answer(kAllow), refused = program.answer(refusal(EPERM));
  const auto noFamily = program.answer(refusal(EAFNOSUPPORT));
  const auto none = [&program, allowed, refused](uint32_t bits) {
    return program.loadArgument(0, program.branch(BPF_JSET, bits, refused, allowed));
  };
  calls[kNumberOfSetFileAttributes] = refused;
  calls[SYS_ioctl] = program.loadArgument(1, program.anyOf(kAttributeRequests, refused, allowed));
  calls[SYS_clone] = none(kNamespaces);
  calls[SYS_unshare] = none(kNamespaces | kTimeNamespace);
  calls[SYS_personality] = program.loadArgument(0, program.anyOf(kPersonalities, allowed, refused));
  calls[SYS_socketpair] = program.loadArgument(0, program.anyOf({AF_UNIX}, allowed, noFamily));
  const auto netlink = program.loadArgument(2, program.anyOf({kRoutes}, allowed, noFamily));
  const auto family = program.anyOf({AF_NETLINK}, netlink, noFamily);
  calls[SYS_socket] = program.loadArgument(0, program.anyOf(kFamilies, allowed, family));
}

std::string programForThisMachine() {
  Program program;
  const auto unknown = program.answer(refusal(ENOSYS));
  auto calls = namedCalls(program);
  addJudged(program, calls);
  std::vector<Range> ranges = {{0, unknown}};
  const auto beginRange = [&ranges](uint32_t first, Program::Label label) {
    if (ranges.back().first == first) ranges.pop_back();
    if (ranges.empty() || ranges.back().label != label) ranges.push_back({first, label});
  };
  for (const auto& [call, label] : calls) {
    beginRange(call, label);
    beginRange(call + 1, unknown);
  }
  const auto byNumber = program.load(offsetof(seccomp_data, nr), search(program, ranges));
  program.load(offsetof(seccomp_data, arch),
               program.branch(BPF_JEQ, ::seccomp_arch_native(), byNumber, unknown));
  return program.bytes();
}

bool takesFilters() {
  const uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace

Result<std::string> systemCallFilter() {
  if (!takesFilters()) {
    return Error{
        ErrorCode::kUnavailable,
        "its server's kernel takes no filters of system calls (CONFIG_SECCOMP_FILTER), and no task runs "
        "without one"};
  }
  return programForThisMachine();
}

}  // namespace tarcil
