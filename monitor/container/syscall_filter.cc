#include "monitor/container/syscall_filter.h"

#include <errno.h>
#include <kj/io.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <system_error>

namespace tarcil {
namespace {

// A call that this machine does not have is no call to libseccomp either, and left out.
constexpr const char* kDenied[] = {
    // Modules, another kernel, the machine as a whole.
    "create_module", "delete_module", "finit_module", "get_kernel_syms", "init_module", "query_module",
    "kexec_file_load", "kexec_load", "reboot", "acct", "quotactl", "quotactl_fd", "swapoff", "swapon",
    "nfsservctl", "_sysctl", "sysfs", "uselib", "ustat", "vhangup",
    // Time, names and ports of the machine; its messages.
    "clock_settime", "clock_settime64", "settimeofday", "stime", "sethostname", "setdomainname", "ioperm",
    "iopl", "vm86", "vm86old", "syslog", "lookup_dcookie",
    // Mounts, namespaces, files by handle instead of by path.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "setns", "name_to_handle_at",
    "open_by_handle_at",
    // Keys belong to users and not to containers.
    "add_key", "keyctl", "request_key",
    // Large parts of the kernel that attacks went through.
    "bpf", "perf_event_open", "userfaultfd", "fanotify_init"};

constexpr const char* kNotThere[] = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"};

// Flags of clone and unshare that make namespaces. In clone the lowest byte is a signal instead
// of CLONE_NEWTIME.
constexpr uint64_t kNamespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                    CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
constexpr uint64_t kTimeNamespace = 0x80;

// The calls and requests that change a file's project, and whether a folder hands its own down. The kernel
// looks at the lower half of a request alone.
constexpr const char* kSetFileAttributes = "file_setattr";
constexpr uint32_t kNumberOfSetFileAttributes = 469;  // on all machines, and of their 32-bit programs
constexpr uint32_t kAttributeRequests[] = {FS_IOC_FSSETXATTR, FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS};
constexpr uint64_t kLowerHalf = UINT32_MAX;

using Filter = std::unique_ptr<void, decltype(&::seccomp_release)>;

// Remembers the first failure of a row of calls.
class Rules {
 public:
  explicit Rules(Filter filter) : filter_(std::move(filter)) {}

  void check(int result) {
    if (error_ == 0 && result < 0) error_ = -result;
  }
  void deny(const DeniedCall& denied) {
    const int call = ::seccomp_syscall_resolve_name(denied.name.c_str());
    if (call == __NR_SCMP_ERROR) return;
    const ArgumentTest test = denied.only.value_or(ArgumentTest{});
    const scmp_arg_cmp has{test.argument, SCMP_CMP_MASKED_EQ, test.bits, test.values};
    check(::seccomp_rule_add_array(get(), SCMP_ACT_ERRNO(static_cast<uint32_t>(denied.error)), call,
                                   denied.only ? 1 : 0, &has));
  }
  scmp_filter_ctx get() const { return filter_.get(); }
  int error() const { return error_; }

 private:
  Filter filter_;
  int error_ = 0;
};

// The 32-bit programs that processors of this kind run as well. Any other calls, such as x32's, are
// not there.
void addArchitectures(Rules& rules) {
  rules.check(::seccomp_attr_set(rules.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
  if (::seccomp_arch_native() == SCMP_ARCH_X86_64)
    rules.check(::seccomp_arch_add(rules.get(), SCMP_ARCH_X86));
  if (::seccomp_arch_native() == SCMP_ARCH_AARCH64)
    rules.check(::seccomp_arch_add(rules.get(), SCMP_ARCH_ARM));
}

// libseccomp knows this call later than kernels have it.
std::string denialOfSetFileAttributes() {
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kNumberOfSetFileAttributes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  return {reinterpret_cast<const char*>(program), sizeof program};
}

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

}  // namespace

std::vector<DeniedCall> deniedCalls() {
  std::vector<DeniedCall> calls;
  for (const char* name : kDenied) calls.push_back({name, EPERM, std::nullopt});
  calls.push_back({kSetFileAttributes, EPERM, std::nullopt});
  for (const char* name : kNotThere) calls.push_back({name, ENOSYS, std::nullopt});
  for (const uint64_t flag : kNamespaces) {
    for (const char* name : {"clone", "unshare"}) calls.push_back({name, EPERM, ArgumentTest{0, flag, flag}});
  }
  calls.push_back({"unshare", EPERM, ArgumentTest{0, kTimeNamespace, kTimeNamespace}});
  for (const uint32_t request : kAttributeRequests) {
    calls.push_back({"ioctl", EPERM, ArgumentTest{1, kLowerHalf, request}});
  }
  return calls;
}

Result<std::string> systemCallFilter() {
  Rules rules(Filter(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release));
  addArchitectures(rules);
  // As a tree over the calls' numbers: a row of as many comparisons would stand before each call.
  rules.check(::seccomp_attr_set(rules.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  for (const DeniedCall& call : deniedCalls()) rules.deny(call);
  if (rules.error() != 0) {
    return Error{ErrorCode::kInternal,
                 "cannot make the filter of system calls: " + std::generic_category().message(rules.error())};
  }
  auto program = programOf(rules);
  if (program) program->insert(0, denialOfSetFileAttributes());
  return program;
}

bool hasSystemCallFilters() {
  const uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace tarcil
