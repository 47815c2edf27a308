#include "monitor/container/shim_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <system_error>

#include "shim/plan.h"

namespace tarcil {
namespace {

// Above all descriptors that the shim is given, so that giving one does not overwrite another.
constexpr int kFirstFree = kSecretsFd + 1;

Error failure(const std::string& what, int error) {
  return {ErrorCode::kInternal, "cannot " + what + ": " + std::generic_category().message(error)};
}

kj::AutoCloseFd duplicate(int fd) {
  return kj::AutoCloseFd(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree));
}

Result<kj::AutoCloseFd> planFile(const std::string& plan) {
  kj::AutoCloseFd fd(::memfd_create("tarcil-plan", MFD_CLOEXEC));
  if (fd.get() < 0) return failure("make the launch plan", errno);
  if (::write(fd, plan.data(), plan.size()) != static_cast<ssize_t>(plan.size())) {
    return failure("write the launch plan", errno);
  }
  return fd;
}

// In memory, until the shim has taken them out; none where there is nothing to hand over.
Result<kj::AutoCloseFd> secretsFile(std::span<const TaskSecret> secrets) {
  if (secrets.empty()) return kj::AutoCloseFd();
  kj::AutoCloseFd fd(::memfd_create("tarcil-secrets", MFD_CLOEXEC));
  if (fd.get() < 0) return failure("make room for the secrets", errno);
  for (const TaskSecret& secret : secrets) {
    const SecretHeader header{static_cast<uint32_t>(secret.name.size() + 1),
                              static_cast<uint32_t>(secret.value.size())};
    iovec parts[] = {{const_cast<SecretHeader*>(&header), sizeof header},
                     {const_cast<char*>(secret.name.c_str()), header.nameBytes},
                     {const_cast<uint8_t*>(secret.value.bytes().data()), header.valueBytes}};
    const auto size = static_cast<ssize_t>(sizeof header + header.nameBytes + header.valueBytes);
    if (::writev(fd, parts, std::size(parts)) != size) return failure("hand the secrets over", errno);
  }
  return fd;
}

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  KJ_DISALLOW_COPY(SpawnActions);

  void give(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void closeFrom(int fd) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, fd); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Every signal blocked, so that none is lost or deadly before the shim listens, and none ignored.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &all);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  KJ_DISALLOW_COPY(SpawnAttributes);

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<pid_t> spawnShim(const std::string& program, const ShimStart& start) {
  auto planFd = planFile(start.plan);
  if (!planFd) return planFd.error();
  auto secretsFd = secretsFile(start.secrets);
  if (!secretsFd) return secretsFd.error();
  const kj::AutoCloseFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const kj::AutoCloseFd plan = duplicate(*planFd);
  const kj::AutoCloseFd lock = duplicate(start.lockFd);
  const kj::AutoCloseFd status = duplicate(start.statusFd);
  const bool hasSecrets = !start.secrets.empty();
  const kj::AutoCloseFd secrets = hasSecrets ? duplicate(*secretsFd) : kj::AutoCloseFd();
  if (null.get() < 0 || plan.get() < 0 || lock.get() < 0 || status.get() < 0 ||
      (hasSecrets && secrets.get() < 0)) {
    return failure("start tarcil-shim", errno);
  }
  SpawnActions actions;
  for (const int fd : {0, 1, 2}) actions.give(null, fd);  // first: it may stand where the next ones go
  actions.give(plan, kPlanFd);
  actions.give(lock, kLockFd);
  actions.give(status, kStatusFd);
  if (hasSecrets) actions.give(secrets, kSecretsFd);
  actions.closeFrom(hasSecrets ? kFirstFree : kSecretsFd);

  std::string words[] = {"tarcil-shim", std::to_string(start.allocation), start.name};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  char* variables[] = {nullptr};
  const SpawnAttributes attributes;
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, program.c_str(), actions.get(), attributes.get(), arguments, variables);
  if (error != 0) return failure("execute '" + program + "'", error);
  return pid;
}

kj::AutoCloseFd openPidfd(pid_t pid) {
  return kj::AutoCloseFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void requestSignal(int pidfd, int signal) {
  siginfo_t info{};
  info.si_signo = kRequestSignal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = signal;
  // A shim that is gone already has reported the end, or is about to.
  ::syscall(SYS_pidfd_send_signal, pidfd, kRequestSignal, &info, 0);
}

int reap(int pidfd) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0)
    return 0;
  return info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
}

}  // namespace tarcil
