// The file systems as a task sees them.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// Gives the calling process, and what it will start, a view of files that ends with its mount namespace, and
// enters the task's private directory. Requires: a mount namespace and a pid namespace of its own, root.
//
// Without a root file system of the plan the task sees the host's files, read-only but for the plan's shares,
// with the rights of its user; it does not see what the plan hides. /proc, /dev with the devices that every
// program needs and those of its extras, /tmp and /run, where nothing of the host is but what finds the
// addresses of names, are its own, and so is /dev/shm. What is mounted on the host later arrives as it is.
//
// With the host's view it sees the host's files as they are, and has its own /tmp, /proc, /dev/shm and
// message queues; /sys and the files in /proc that set up the machine cannot be written to, whoever owns
// them: else root without capabilities could still move itself out of its cgroups.
//
// With one it sees that, read-only, and nothing of the host: /proc of its own, /sys read-only, a minimal
// /dev, /tmp, an empty /run, and the private directory. Symbolic links in it lead nowhere but into itself: it
// has become the root before anything is mounted in it.
//
// False: `report` says why.
bool setUpMounts(const Plan& plan, Report& report);

}  // namespace tarcil
