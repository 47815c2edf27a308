// Trees of mounts: taken, restricted, and attached elsewhere. All return what the kernel returns, negative
// for failure, or say in a report why they failed.
#pragma once

#include <sys/mount.h>

#include <cstdint>

#include "shim/report.h"

namespace tarcil {

// Of what holds data and no programs or devices: MS_NOSUID and the like.
inline constexpr unsigned long kInert = MS_NOSUID | MS_NODEV | MS_NOEXEC;

long mountAt(const char* source, const char* point, const char* type, unsigned long flags,
             const char* options);

bool exists(const char* path);

// What `directory` followed by `name` is, to be attached elsewhere; negative where there is none. It stays
// what it is, wherever in the tree of files it was, when something is mounted over that place or it is left
// behind.
long detachedTree(const char* directory, const char* name);

// The same with all that is mounted below, and without following a symbolic link on the way.
long detachedTrees(const char* path);

long attachTree(long tree, const char* point);

// Takes from a tree of mounts what `attributes` (MOUNT_ATTR_...) forbid.
long restrict(long tree, const char* path, unsigned flags, uint64_t attributes);

// A new file system of this type.
bool mountOver(const char* type, const char* point, unsigned long flags, const char* options, Report& report);

// Attaches a tree and closes it.
bool attachTo(long tree, const char* point, Report& report);

// Covers what is not to be seen.
class Hiding {
 public:
  Hiding() = default;
  Hiding(const Hiding&) = delete;
  Hiding& operator=(const Hiding&) = delete;
  ~Hiding();

  // An empty folder that is seen in the place of others; else one of a file system of its own is.
  bool show(const char* folder, Report& report);
  // Neither files of a folder, nor the content of a file. True where nothing is there.
  bool hide(const char* path, Report& report);

 private:
  long folder_ = -1;
};

// Folders down to `path`, or to the one that it is in. 0, or the failed call's result.
long makeFolders(const char* path, bool withLast);

}  // namespace tarcil
