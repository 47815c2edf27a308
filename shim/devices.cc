#include "shim/devices.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <initializer_list>

#include "shim/trees.h"

namespace tarcil {
namespace {

struct DeviceFile {
  const char* path;
  unsigned major;
  unsigned minor;
};

struct Link {
  const char* to;
  const char* path;
};

// Those of the task's extras.
bool makeGrantedDevices(const Plan& plan, Report& report) {
  for (uint32_t i = 0; i < plan.header->devices; ++i) {
    const PlanDevice& device = plan.devices[i];
    const char* path = plan.devicePaths[i];
    long result = makeFolders(path, false);
    if (result >= 0)
      result = sys::call(SYS_mknodat, AT_FDCWD, path, device.mode, makedev(device.major, device.minor));
    if (result == -EEXIST) result = 0;  // one of those that every task has
    if (result >= 0) result = sys::call(SYS_fchmodat, AT_FDCWD, path, device.mode & 07777);
    if (result >= 0) result = sys::call(SYS_fchownat, AT_FDCWD, path, device.uid, device.gid, 0);
    if (result >= 0) continue;
    report.fail("make the device", path, result);
    return false;
  }
  return true;
}

long makeCommonDevices() {
  for (const DeviceFile& device :
       {DeviceFile{"/dev/null", 1, 3}, DeviceFile{"/dev/zero", 1, 5}, DeviceFile{"/dev/full", 1, 7},
        DeviceFile{"/dev/random", 1, 8}, DeviceFile{"/dev/urandom", 1, 9}, DeviceFile{"/dev/tty", 5, 0}}) {
    const long result =
        sys::call(SYS_mknodat, AT_FDCWD, device.path, S_IFCHR | 0666, makedev(device.major, device.minor));
    if (result < 0) return result;
  }
  for (const Link& link : {Link{"/proc/self/fd", "/dev/fd"}, Link{"/proc/self/fd/0", "/dev/stdin"},
                           Link{"/proc/self/fd/1", "/dev/stdout"}, Link{"/proc/self/fd/2", "/dev/stderr"},
                           Link{"pts/ptmx", "/dev/ptmx"}}) {
    const long result = sys::call(SYS_symlinkat, link.to, AT_FDCWD, link.path);
    if (result < 0) return result;
  }
  for (const char* folder : {"/dev/pts", "/dev/mqueue"}) {
    const long result = sys::call(SYS_mkdirat, AT_FDCWD, folder, 0755);
    if (result < 0) return result;
  }
  return sys::call(SYS_mkdirat, AT_FDCWD, "/dev/shm", 01777);
}

}  // namespace

bool makeDevices(const Plan& plan, Report& report) {
  const long mask = sys::call(SYS_umask, 0);
  const long made = makeCommonDevices();
  sys::call(SYS_umask, mask);
  if (made < 0) report.fail("make the devices of the task", made);
  // Not every kernel has message queues.
  return made >= 0 && makeGrantedDevices(plan, report) &&
         mountOver("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,mode=620,ptmxmode=666",
                   report) &&
         (mountAt("mqueue", "/dev/mqueue", "mqueue", kInert, nullptr) >= 0 ||
          sys::call(SYS_unlinkat, AT_FDCWD, "/dev/mqueue", AT_REMOVEDIR) >= 0);
}

}  // namespace tarcil
