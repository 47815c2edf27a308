// Starts tarcil-shim and talks to one that runs.
#pragma once

#include <kj/io.h>
#include <sys/types.h>

#include <span>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/task_secret.h"

namespace tarcil {

// The descriptors that a shim inherits (shim/plan.h) and its name in the process table.
struct ShimStart {
  AllocationId allocation = 0;
  std::string name;
  std::string plan;  // bytes
  int lockFd = -1;
  int statusFd = -1;
  std::span<const TaskSecret> secrets{};  // as many as the plan says
};

// Starts a shim as a session leader of its own, with no other descriptor and no variable of this process.
// Returns when it is executed; costs no copy of this process' memory. The pid is this process' child.
Result<pid_t> spawnShim(const std::string& program, const ShimStart& start);

// A descriptor that is readable once the process has ended; negative if there is no such process.
kj::AutoCloseFd openPidfd(pid_t pid);

// Asks the shim to signal its task (shim/plan.h).
void requestSignal(int pidfd, int signal);

// The wait status of a child that has ended; 0 if the process is not a child.
int reap(int pidfd);

}  // namespace tarcil
