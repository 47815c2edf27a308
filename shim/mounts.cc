#include "shim/mounts.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <initializer_list>

#include "shim/devices.h"
#include "shim/secrets.h"
#include "shim/trees.h"

namespace tarcil {
namespace {

// Whether files are the command's by which root sets up the machine.
bool ownsMachine(const Plan& plan) {
  return plan.header->uid == 0 || plan.header->privileges != kNoPrivileges;
}

// Files by which root sets up the machine, or stops it.
bool protectMachine(Report& report) {
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
    const long tree = detachedTree(path, "");
    if (tree == -ENOENT) continue;  // not every kernel has each
    long result = tree;
    if (result >= 0) result = restrict(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_RDONLY);
    if (result >= 0) result = attachTree(tree, path);
    if (tree >= 0) sys::close(static_cast<int>(tree));
    if (result >= 0) continue;
    report.fail("protect", path, result);
    return false;
  }
  return true;
}

bool mountProcesses(const Plan& plan, Report& report) {
  return mountOver("proc", "/proc", kInert, nullptr, report) &&
         (!ownsMachine(plan) || protectMachine(report));
}

// The task's own /dev, /run and what is seen of folders that are hidden, in one file system: each takes its
// time at the start of a task.
bool makeOwnFolders(Hiding& hiding, Report& report) {
  if (!mountOver("tmpfs", "/run", MS_NOSUID, "mode=755", report)) return false;
  long made = sys::call(SYS_mkdirat, AT_FDCWD, "/run/none", 0);
  for (const char* folder : {"/run/dev", "/run/run"}) {
    if (made >= 0) made = sys::call(SYS_mkdirat, AT_FDCWD, folder, 0755);
  }
  if (made < 0) report.fail("make folders of the task in", "/run", made);
  if (made < 0 || !hiding.show("/run/none", report)) return false;
  if (!attachTo(detachedTree("/run/dev", ""), "/dev", report)) return false;
  const long run = detachedTree("/run/run", "");
  restrict(run, "", AT_EMPTY_PATH, MOUNT_ATTR_NODEV);
  return attachTo(run, "/run", report);
}

// What the kernel tells of the whole machine and of others on it, and programs do without. Requires: /proc,
// /sys and /dev/null are there.
bool hideMachine(const Plan& plan, Hiding& hiding, Report& report) {
  for (const char* path : {"/proc/keys", "/sys/firmware", "/sys/devices/virtual/powercap"}) {
    if (!hiding.hide(path, report)) return false;
  }
  if (!ownsMachine(plan)) return true;
  // These nobody but root may read.
  for (const char* path : {"/proc/kcore", "/proc/kpagecount", "/proc/kpageflags", "/proc/timer_list"}) {
    if (!hiding.hide(path, report)) return false;
  }
  return true;
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

// In a folder that is writable here.
bool makeWorkPoint(const char* path, Report& report) {
  const long made = makeFolders(path, true);
  if (made < 0) report.fail("make the folder", path, made);
  return made >= 0;
}

bool enterWork(const Plan& plan, long work, Report& report) {
  if (*plan.workPoint != '\0')
    return makeWorkPoint(plan.workPoint, report) && attachTo(work, plan.workPoint, report) &&
           enterWork(plan.workPoint, report);
  const long entered = sys::call(SYS_fchdir, work);
  if (entered < 0) report.fail("enter the task's private directory", entered);
  return entered >= 0;
}

// --- On the host's file systems, as they are

bool hideAll(const Plan& plan, Hiding& hiding, Report& report) {
  for (uint32_t i = 0; i < plan.header->hidden; ++i) {
    if (!hiding.hide(plan.hidden[i], report)) return false;
  }
  return true;
}

bool setUpOnHost(const Plan& plan, const PrivateTrees& trees, Report& report) {
  if (!mountProcesses(plan, report)) return false;
  // crun is in the cgroups that it should be in, and takes no part where versions 1 and 2 are side by side.
  const bool hideCgroups = plan.header->privileges != kNoPrivileges && exists("/sys/fs/cgroup");
  if (hideCgroups && !mountOver("tmpfs", "/sys/fs/cgroup", kInert, "mode=755,size=4k", report)) return false;
  const long still = restrict(AT_FDCWD, "/sys", AT_RECURSIVE, MOUNT_ATTR_RDONLY);
  if (still < 0) report.fail("protect", "/sys", still);
  if (still < 0) return false;
  if (exists("/dev/shm") && !mountOver("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777", report))
    return false;
  if (exists("/dev/mqueue") && !mountOver("mqueue", "/dev/mqueue", kInert, nullptr, report)) return false;
  // A program that makes the container itself finds its configuration there.
  Hiding hiding;
  if (plan.header->privileges == kNoPrivileges && !hideAll(plan, hiding, report)) return false;
  return giveSecrets(plan, report) && enterWork(plan, trees.work, report) &&
         attachTo(trees.temporary, "/tmp", report);
}

// --- On the host's file systems, read-only

// Of the host's /run: by which programs find the addresses of names.
constexpr const char* kKeptOfRun[] = {"/run/systemd/resolve", "/run/resolvconf",
                                      "/run/NetworkManager/resolv.conf", "/run/nscd"};

// Trees that are seen where they are on the host.
class SharedTrees {
 public:
  ~SharedTrees() {
    for (size_t i = 0; i < count_; ++i) sys::close(static_cast<int>(trees_[i].tree));
  }

  // A path that is not there is none.
  bool add(const char* path, uint64_t restrictions, Report& report) {
    const long tree = detachedTrees(path);
    if (tree == -ENOENT) return true;
    struct stat status {};
    long result = tree;
    if (result >= 0) result = sys::call(SYS_fstat, tree, &status);
    const bool isFolder = S_ISDIR(status.st_mode);
    // The devices of a folder are not shared with it, a device is.
    if (isFolder) restrictions |= MOUNT_ATTR_NODEV;
    if (result >= 0)
      result = restrict(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, restrictions | MOUNT_ATTR_NOSUID);
    if (result < 0) report.fail("share with the task", path, result);
    if (result < 0) return false;
    trees_[count_++] = {path, tree, isFolder};
    return true;
  }

  bool attachAll(Report& report) const {
    for (size_t i = 0; i < count_; ++i) {
      if (attachOne(trees_[i], report)) continue;
      return false;
    }
    return true;
  }

 private:
  struct Tree {
    const char* path;
    long tree;
    bool isFolder;
  };

  // Below a folder of the task's own nothing is there yet.
  static bool attachOne(const Tree& tree, Report& report) {
    long result = attachTree(tree.tree, tree.path);
    if (result == -ENOENT) {
      result = makeFolders(tree.path, tree.isFolder);
      if (result >= 0 && !tree.isFolder)
        result = sys::call(SYS_mknodat, AT_FDCWD, tree.path, S_IFREG | 0600, 0);
      if (result >= 0) result = attachTree(tree.tree, tree.path);
    }
    if (result < 0) report.fail("share with the task", tree.path, result);
    return result >= 0;
  }

  Tree trees_[kMaxViewPaths + sizeof kKeptOfRun / sizeof *kKeptOfRun];
  size_t count_ = 0;
};

bool setUpReadOnly(const Plan& plan, const PrivateTrees& trees, Report& report) {
  SharedTrees shared;
  for (uint32_t i = 0; i < plan.header->shares; ++i) {
    if (!shared.add(plan.shares[i], 0, report)) return false;
  }
  for (const char* path : kKeptOfRun) {
    if (!shared.add(path, MOUNT_ATTR_RDONLY, report)) return false;
  }
  const long still =
      restrict(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (still < 0) report.fail("make the host's files read-only", still);
  Hiding hiding;
  if (still < 0 || !mountProcesses(plan, report) || !makeOwnFolders(hiding, report) ||
      !makeDevices(plan, report) || !hideMachine(plan, hiding, report) ||
      !attachTo(trees.temporary, "/tmp", report) || !shared.attachAll(report) || !giveSecrets(plan, report)) {
    return false;
  }
  return hideAll(plan, hiding, report) && enterWork(plan, trees.work, report);
}

// --- On a root file system of its own

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
  if (result >= 0) result = attachTree(tree, plan.taskDirectory);
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

bool setUpOnOwnRoot(const Plan& plan, const PrivateTrees& trees, Report& report) {
  if (!changeRoot(plan, report)) return false;
  Hiding hiding;
  const bool mounted =
      mountProcesses(plan, report) && mountOver("sysfs", "/sys", kInert | MS_RDONLY, nullptr, report) &&
      makeOwnFolders(hiding, report) && makeDevices(plan, report) && hideMachine(plan, hiding, report) &&
      makeWorkPoint(plan.workPoint, report) && attachTo(trees.work, plan.workPoint, report) &&
      attachTo(trees.temporary, "/tmp", report);
  if (!mounted) {
    report.problem << " (in the root file system '" << plan.root
                   << "', which must have the empty folders proc, sys, "
                   << "dev, run and tmp)";
    report.exitCode = 126;
    return false;
  }
  return giveSecrets(plan, report) && enterWork(plan.workPoint, report);
}

}  // namespace

bool setUpMounts(const Plan& plan, Report& report) {
  // Mounts of the host still arrive, none of the task's leave.
  const long apart = mountAt(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
  if (apart < 0) report.fail("make the mounts private", apart);
  PrivateTrees trees;
  if (apart < 0 || !openTrees(plan, trees, report)) return false;
  if (*plan.root != '\0') return setUpOnOwnRoot(plan, trees, report);
  // A program that makes the container itself needs the host for that.
  const bool asItIs = plan.header->hostView != 0 || plan.header->privileges != kNoPrivileges;
  return asItIs ? setUpOnHost(plan, trees, report) : setUpReadOnly(plan, trees, report);
}

}  // namespace tarcil
