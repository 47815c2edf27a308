#include "shim/trees.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace tarcil {

long mountAt(const char* source, const char* point, const char* type, unsigned long flags,
             const char* options) {
  return sys::call(SYS_mount, source, point, type, flags, options);
}

bool exists(const char* path) {
  return sys::call(SYS_faccessat, AT_FDCWD, path, 0) == 0;
}

long detachedTree(const char* directory, const char* name) {
  Text<4096> path;
  path << directory << name;
  return sys::call(SYS_open_tree, AT_FDCWD, path.get(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

long detachedTrees(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long found = sys::call(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (found < 0) return found;
  const long tree =
      sys::call(SYS_open_tree, found, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  sys::close(static_cast<int>(found));
  return tree;
}

long attachTree(long tree, const char* point) {
  return sys::call(SYS_move_mount, tree, "", AT_FDCWD, point, MOVE_MOUNT_F_EMPTY_PATH);
}

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

bool attachTo(long tree, const char* point, Report& report) {
  const long attached = attachTree(tree, point);
  if (attached < 0) report.fail("mount a private folder on", point, attached);
  sys::close(static_cast<int>(tree));
  return attached >= 0;
}

Hiding::~Hiding() {
  if (folder_ >= 0) sys::close(static_cast<int>(folder_));
}

bool Hiding::show(const char* folder, Report& report) {
  folder_ = sys::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) report.fail("find", folder, folder_);
  return folder_ >= 0;
}

bool Hiding::hide(const char* path, Report& report) {
  struct stat status {};
  const long found = sys::call(SYS_newfstatat, AT_FDCWD, path, &status, 0);
  if (found == -ENOENT) return true;
  const bool isFolder = found >= 0 && S_ISDIR(status.st_mode);
  if (isFolder && folder_ < 0)
    return mountOver("tmpfs", path, kInert | MS_RDONLY, "mode=000,size=4k", report) && show(path, report);
  long tree = found;
  if (tree >= 0 && !isFolder) tree = detachedTree("/dev/null", "");
  if (tree >= 0 && isFolder)
    tree = sys::call(SYS_open_tree, folder_, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  long result = tree;
  if (result >= 0 && isFolder)
    result = restrict(tree, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (result >= 0) result = attachTree(tree, path);
  if (tree >= 0) sys::close(static_cast<int>(tree));
  if (result < 0) report.fail("hide", path, result);
  return result >= 0;
}

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

}  // namespace tarcil
