#include "shim/mounts.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <initializer_list>

namespace tarcil {
namespace {

constexpr unsigned long kInert = MS_NOSUID | MS_NODEV | MS_NOEXEC;

long mountAt(const char* source, const char* point, const char* type, unsigned long flags,
             const char* options) {
  return sys::call(SYS_mount, source, point, type, flags, options);
}

bool exists(const char* path) {
  return sys::call(SYS_faccessat, AT_FDCWD, path, 0) == 0;
}

// What a plan's directory `name` is, to be attached elsewhere; negative where there is none. It stays what it
// is, wherever in the tree of files it was, when something is mounted over that place or it is left behind.
long detachedTree(const char* directory, const char* name) {
  Text<4096> path;
  path << directory << name;
  return sys::call(SYS_open_tree, AT_FDCWD, path.get(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

long attach(long tree, const char* point) {
  return sys::call(SYS_move_mount, tree, "", AT_FDCWD, point, MOVE_MOUNT_F_EMPTY_PATH);
}

// Takes from a tree of mounts what `attributes` (MOUNT_ATTR_...) forbid.
long restrict(long tree, const char* path, unsigned flags, uint64_t attributes) {
  mount_attr wanted{};
  wanted.attr_set = attributes;
  return sys::call(SYS_mount_setattr, tree, path, flags, &wanted, sizeof wanted);
}

bool mountOver(const char* type, const char* point, unsigned long flags, const char* options,
               Report& report) {
  const long result = mountAt(type, point, type, flags, options);
  if (result < 0) report.fail("mount", point, result);
  return result >= 0;
}

// Files by which root sets up the machine, or stops it.
bool protectMachine(Report& report) {
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
    const long tree = detachedTree(path, "");
    if (tree == -ENOENT) continue;  // not every kernel has each
    long result = tree;
    if (result >= 0) result = restrict(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_RDONLY);
    if (result >= 0) result = attach(tree, path);
    if (tree >= 0) sys::close(static_cast<int>(tree));
    if (result >= 0) continue;
    report.fail("protect", path, result);
    return false;
  }
  return true;
}

bool mountProcesses(Report& report) {
  return mountOver("proc", "/proc", kInert, nullptr, report) && protectMachine(report);
}

bool enterWork(const char* path, Report& report) {
  const long entered = sys::call(SYS_chdir, path);
  if (entered < 0) report.fail("enter the task's private directory", path, entered);
  return entered >= 0;
}

struct PrivateTrees {
  long work = -1;
  long temporary = -1;
};

bool openTrees(const Plan& plan, PrivateTrees& trees, Report& report) {
  trees.work = detachedTree(plan.taskDirectory, "/work");
  trees.temporary = detachedTree(plan.taskDirectory, "/tmp");
  const long worse = trees.work < 0 ? trees.work : trees.temporary;
  if (worse < 0) report.fail("find the private folders in", plan.taskDirectory, worse);
  for (const long tree : {trees.work, trees.temporary}) {
    if (tree >= 0) restrict(tree, "", AT_EMPTY_PATH, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  }
  return worse >= 0;
}

bool attachTo(long tree, const char* point, Report& report) {
  const long attached = attach(tree, point);
  if (attached < 0) report.fail("mount a private folder on", point, attached);
  sys::close(static_cast<int>(tree));
  return attached >= 0;
}

// --- On the host's file systems
// -----------------------------------------------------------------------------

bool setUpOnHost(const Plan& plan, const PrivateTrees& trees, Report& report) {
  if (!mountProcesses(report)) return false;
  // crun is in the cgroups that it should be in, and takes no part where versions 1 and 2 are side by side.
  const bool hideCgroups = plan.header->privileged != 0 && exists("/sys/fs/cgroup");
  if (hideCgroups && !mountOver("tmpfs", "/sys/fs/cgroup", kInert, "mode=755,size=4k", report)) return false;
  const long still = restrict(AT_FDCWD, "/sys", AT_RECURSIVE, MOUNT_ATTR_RDONLY);
  if (still < 0) report.fail("protect", "/sys", still);
  if (still < 0) return false;
  if (exists("/dev/shm") && !mountOver("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777", report))
    return false;
  if (exists("/dev/mqueue") && !mountOver("mqueue", "/dev/mqueue", kInert, nullptr, report)) return false;
  if (*plan.workPoint == '\0') {
    // Entered where it is, before /tmp, which it may be below, is covered.
    Text<4096> work;
    work << plan.taskDirectory << "/work";
    return enterWork(work.get(), report) && attachTo(trees.temporary, "/tmp", report);
  }
  return attachTo(trees.work, plan.workPoint, report) && enterWork(plan.workPoint, report) &&
         attachTo(trees.temporary, "/tmp", report);
}

// --- On a root file system of its own
// -----------------------------------------------------------------------

// Opened without following a symbolic link: the monitor has judged this path and no other.
long openRoot(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return sys::call(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

// Makes the plan's root this process' root. The host's file systems are gone from its namespace afterwards.
bool changeRoot(const Plan& plan, Report& report) {
  const long root = openRoot(plan.root);
  long result = root;
  long tree = -1;
  if (result >= 0)
    result = tree = sys::call(SYS_open_tree, root, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (result >= 0)
    result = restrict(tree, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  // Over a folder that is there for certain; from there it takes the place of the root.
  if (result >= 0) result = attach(tree, plan.taskDirectory);
  if (result >= 0) result = sys::call(SYS_fchdir, tree);
  if (result >= 0) result = sys::call(SYS_pivot_root, ".", ".");
  if (result >= 0) result = sys::call(SYS_umount2, ".", MNT_DETACH);
  if (result >= 0) result = sys::call(SYS_chdir, "/");
  for (const long fd : {root, tree}) {
    if (fd >= 0) sys::close(static_cast<int>(fd));
  }
  if (result < 0) report.fail("use the root file system", plan.root, result);
  return result >= 0;
}

struct DeviceFile {
  const char* path;
  unsigned minor;  // of major number 1; the terminal is 5:0
};

// Folders down to `path`, or to the one that it is in. 0, or the failed call's result.
long makeFolders(const char* path, bool withLast) {
  Text<4096> part;
  for (const char* at = path; *at != '\0'; ++at) {
    part.add(*at);
    if (at[1] != '/' && (at[1] != '\0' || !withLast)) continue;
    const long made = sys::call(SYS_mkdirat, AT_FDCWD, part.get(), 0755);
    if (made < 0 && made != -EEXIST) return made;
  }
  return 0;
}

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

bool makeDevices(const Plan& plan, Report& report) {
  if (!mountOver("tmpfs", "/dev", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k", report)) return false;
  long result = 0;
  for (const DeviceFile& device :
       {DeviceFile{"/dev/null", 3}, DeviceFile{"/dev/zero", 5}, DeviceFile{"/dev/full", 7},
        DeviceFile{"/dev/random", 8}, DeviceFile{"/dev/urandom", 9}}) {
    if (result >= 0)
      result = sys::call(SYS_mknodat, AT_FDCWD, device.path, S_IFCHR | 0666, makedev(1, device.minor));
    if (result >= 0) result = sys::call(SYS_fchmodat, AT_FDCWD, device.path, 0666);
  }
  struct Link {
    const char* to;
    const char* path;
  };
  for (const Link& link : {Link{"/proc/self/fd", "/dev/fd"}, Link{"/proc/self/fd/0", "/dev/stdin"},
                           Link{"/proc/self/fd/1", "/dev/stdout"}, Link{"/proc/self/fd/2", "/dev/stderr"}}) {
    if (result >= 0) result = sys::call(SYS_symlinkat, link.to, AT_FDCWD, link.path);
  }
  if (result >= 0) result = sys::call(SYS_mkdirat, AT_FDCWD, "/dev/shm", 0755);
  if (result < 0) report.fail("make the devices of the root file system", result);
  return result >= 0 && makeGrantedDevices(plan, report) &&
         mountOver("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777", report);
}

// In /run, which is empty and writable here.
bool makeWorkPoint(const char* path, Report& report) {
  const long made = makeFolders(path, true);
  if (made < 0) report.fail("make the folder", path, made);
  return made >= 0;
}

bool setUpOnOwnRoot(const Plan& plan, const PrivateTrees& trees, Report& report) {
  if (!changeRoot(plan, report)) return false;
  const bool mounted =
      mountProcesses(report) && mountOver("sysfs", "/sys", kInert | MS_RDONLY, nullptr, report) &&
      makeDevices(plan, report) &&
      mountOver("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755,size=64k", report) &&
      makeWorkPoint(plan.workPoint, report) && attachTo(trees.work, plan.workPoint, report) &&
      attachTo(trees.temporary, "/tmp", report);
  if (!mounted) {
    report.problem << " (in the root file system '" << plan.root
                   << "', which must have the empty folders proc, sys, "
                   << "dev, run and tmp)";
    report.exitCode = 126;
    return false;
  }
  return enterWork(plan.workPoint, report);
}

}  // namespace

bool setUpMounts(const Plan& plan, Report& report) {
  // Mounts of the host still arrive, none of the task's leave.
  const long apart = mountAt(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
  if (apart < 0) report.fail("make the mounts private", apart);
  PrivateTrees trees;
  if (apart < 0 || !openTrees(plan, trees, report)) return false;
  return *plan.root == '\0' ? setUpOnHost(plan, trees, report) : setUpOnOwnRoot(plan, trees, report);
}

}  // namespace tarcil
