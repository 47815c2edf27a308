// Which system calls a task may not make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// A call that fails, wherever a machine has it.
struct DeniedCall {
  std::string name;
  int error = 0;      // that it fails with
  uint64_t flag = 0;  // only where its first argument has this bit; 0: always
};

// Everything is allowed but what sets up the machine, leaves the container or opens parts of the kernel that
// no ordinary program uses; that fails with EPERM, or ENOSYS where programs then go another way (clone3,
// whose flags no filter can see, and io_uring). A list of what is denied rather than of what is allowed: with
// a new kernel, programs run on. Calls that take a capability anyway, which no task has, are listed all the
// same: they are shut before the kernel looks further.
//
// Tracing is allowed: a task's pid namespace holds nobody else's processes.
std::vector<DeniedCall> deniedCalls();

// That list as a seccomp filter, as the kernel takes it: instructions of classic BPF, for this machine's
// system calls and those of its 32-bit programs.
Result<std::string> systemCallFilter();

// Whether this machine's kernel takes such filters.
bool hasSystemCallFilters();

}  // namespace tarcil
