#include "image/sandbox.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tarcil::image {
namespace {

// Beside programs of tasks and roles.
constexpr int kNice = 10;
constexpr rlim_t kMaxDescriptors = 1'024;

Status cannot(const char* what) {
  return Error{ErrorCode::kInternal,
               std::string("cannot ") + what + ": " + std::generic_category().message(errno)};
}

[[noreturn]] void waitAndExit(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

Status arrangeMounts(const Sandbox& sandbox) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return cannot("make the mounts private");
  const char* point = sandbox.point.c_str();
  if (::mount(sandbox.stage.c_str(), point, nullptr, MS_BIND, nullptr) != 0 ||
      ::mount(nullptr, point, nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, nullptr) != 0)
    return cannot("show the image's folder");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return cannot("mount /proc");
  return ::chdir(point) == 0 ? Status() : cannot("enter the image's folder");
}

bool limit(int what, rlim_t most) {
  const rlimit both{most, most};
  return ::setrlimit(static_cast<__rlimit_resource>(what), &both) == 0;
}

Status giveUpRights(const Sandbox& sandbox) {
  ::setpriority(PRIO_PROCESS, 0, kNice);
  ::umask(022);
  if (!limit(RLIMIT_FSIZE, sandbox.maxFileBytes) || !limit(RLIMIT_CORE, 0) ||
      !limit(RLIMIT_NOFILE, kMaxDescriptors))
    return cannot("limit the fetch of an image");
  if (::setgroups(0, nullptr) != 0 || ::setresgid(sandbox.gid, sandbox.gid, sandbox.gid) != 0 ||
      ::setresuid(sandbox.uid, sandbox.uid, sandbox.uid) != 0)
    return cannot("become the user who fetches images");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return cannot("do without new privileges");
  // After the change of user, which undoes it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return cannot("end with what started this");
  return {};
}

}  // namespace

Status enter(const Sandbox& sandbox) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != static_cast<pid_t>(sandbox.owner)) ::_exit(1);  // it died before it could be told
  if (::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) != 0) return cannot("make namespaces");
  const pid_t child = ::fork();
  if (child < 0) return cannot("start a process");
  if (child > 0) waitAndExit(child);
  if (Status arranged = arrangeMounts(sandbox); !arranged.ok()) return arranged;
  return giveUpRights(sandbox);
}

}  // namespace tarcil::image
