#include "monitor/container/syscall_filter.h"

#include <errno.h>
#include <kj/io.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <memory>
#include <system_error>
#include <vector>

namespace tarcil {
namespace {

// A call that this machine does not have is no call to libseccomp either, and left out.
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

const std::vector<uint32_t> kFamilies = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
constexpr uint32_t kRoutes = 0;  // NETLINK_ROUTE

// Of ordinary programs, of 32-bit ones, of both with an earlier release's name, without random addresses, and
// the question which one it is.
const std::vector<uint32_t> kPersonalities = {PER_LINUX,         PER_LINUX32,
                                              UNAME26,           uint32_t{PER_LINUX32} | uint32_t{UNAME26},
                                              ADDR_NO_RANDOMIZE, 0xffffffff};

// What is refused by arguments, or by numbers that have no name: it stands in front of what libseccomp makes
// of names, and lets all else go on to that.
class Refusals {
 public:
  void always(uint32_t call, int error) {
    begin(call, 1);
    refuse(error);
  }
  // Where the argument (0: the first) has one of these values, or none of them, in its lower half.
  void where(uint32_t call, uint32_t argument, const std::vector<uint32_t>& values, int error) {
    begin(call, values.size() + 3);
    load(argument);
    for (size_t i = 0; i < values.size(); ++i) {
      add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], static_cast<uint8_t>(values.size() - i), 0));
    }
    add(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
    refuse(error);
  }
  void whereNot(uint32_t call, uint32_t argument, const std::vector<uint32_t>& values, int error) {
    begin(call, values.size() + 2);
    load(argument);
    for (size_t i = 0; i < values.size(); ++i) {
      add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], static_cast<uint8_t>(values.size() - i), 0));
    }
    refuse(error);
  }
  // Where it has any of these bits.
  void whereAny(uint32_t call, uint32_t argument, uint32_t bits, int error) {
    begin(call, 3);
    load(argument);
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    refuse(error);
  }
  // Where the first argument is `first` and the third not `third`.
  void wherePair(uint32_t call, uint32_t first, uint32_t third, int error) {
    begin(call, 5);
    load(0);
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 3));
    load(2);
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, third, 1, 0));
    refuse(error);
  }
  std::string program() const {
    return {reinterpret_cast<const char*>(program_.data()), program_.size() * sizeof(sock_filter)};
  }

 private:
  // `count` instructions follow that are for this call alone.
  void begin(uint32_t call, size_t count) {
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, static_cast<uint8_t>(count)));
  }
  void load(uint32_t argument) {
    const bool isLittle = std::endian::native == std::endian::little;
    const auto lower =
        offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + (isLittle ? 0 : sizeof(uint32_t));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(lower)));
  }
  void refuse(int error) { add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error))); }
  void add(const sock_filter& instruction) { program_.push_back(instruction); }

  std::vector<sock_filter> program_;
};

std::string refusals() {
  Refusals made;
  made.always(kNumberOfSetFileAttributes, EPERM);
  made.where(SYS_ioctl, 1, kAttributeRequests, EPERM);
  made.whereAny(SYS_clone, 0, kNamespaces, EPERM);
  made.whereAny(SYS_unshare, 0, kNamespaces | kTimeNamespace, EPERM);
  made.whereNot(SYS_socket, 0, kFamilies, EAFNOSUPPORT);
  made.wherePair(SYS_socket, AF_NETLINK, kRoutes, EAFNOSUPPORT);
  made.whereNot(SYS_socketpair, 0, {AF_UNIX}, EAFNOSUPPORT);
  made.whereNot(SYS_personality, 0, kPersonalities, EPERM);
  return made.program();
}

using Filter = std::unique_ptr<void, decltype(&::seccomp_release)>;

// Remembers the first failure of a row of calls.
class Rules {
 public:
  explicit Rules(Filter filter) : filter_(std::move(filter)) {}

  void check(int result) {
    if (error_ == 0 && result < 0) error_ = -result;
  }
  void add(const char* name, uint32_t action) {
    const int call = ::seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) check(::seccomp_rule_add(get(), action, call, 0));
  }
  scmp_filter_ctx get() const { return filter_.get(); }
  int error() const { return error_; }

 private:
  Filter filter_;
  int error_ = 0;
};

Result<std::string> programOf(const Rules& rules) {
  const kj::AutoCloseFd file(::memfd_create("tarcil-filter", MFD_CLOEXEC));
  const int exported = file.get() < 0 ? -errno : ::seccomp_export_bpf(rules.get(), file);
  const off_t size = exported < 0 ? 0 : ::lseek(file, 0, SEEK_END);
  std::string program(static_cast<size_t>(size), '\0');
  if (size <= 0 || ::pread(file, program.data(), program.size(), 0) != size) {
    return Error{ErrorCode::kInternal, "cannot write the filter of system calls down"};
  }
  return program;
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
  Rules rules(Filter(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), ::seccomp_release));
  rules.check(::seccomp_attr_set(rules.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
  // As a tree over the calls' numbers: a row of as many comparisons would stand before each call.
  rules.check(::seccomp_attr_set(rules.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  for (const char* name : kAllowed) rules.add(name, SCMP_ACT_ALLOW);
  for (const char* name : kRefused) rules.add(name, SCMP_ACT_ERRNO(EPERM));
  if (rules.error() != 0) {
    return Error{ErrorCode::kInternal,
                 "cannot make the filter of system calls: " + std::generic_category().message(rules.error())};
  }
  auto program = programOf(rules);
  if (program) program->insert(0, refusals());
  return program;
}

}  // namespace tarcil
