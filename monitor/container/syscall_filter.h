// Which system calls a task may not make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Whether an argument of a call has these values in these bits.
struct ArgumentTest {
  uint32_t argument = 0;  // 0: the first
  uint64_t bits = 0;
  uint64_t values = 0;
};

// A call that fails, wherever a machine has it.
struct DeniedCall {
  std::string name;
  int error = 0;                     // that it fails with
  std::optional<ArgumentTest> only;  // nullopt: always
};

// Everything is allowed but what sets up the machine, leaves the container or opens parts of the kernel that
// no ordinary program uses; that fails with EPERM, or ENOSYS where programs then go another way (clone3,
// whose flags no filter can see, and io_uring). A list of what is denied rather than of what is allowed: with
// a new kernel, programs run on. Calls that take a capability anyway, which no task has, are listed all the
// same: they are shut before the kernel looks further.
//
// Owners of files could take them, and their folders, out of the project whose quota they count to
// (monitor/container/project_quota.h): attributes of that kind cannot be changed.
//
// Tracing is allowed: a task's pid namespace holds nobody else's processes.
std::vector<DeniedCall> deniedCalls();

// That list as a seccomp filter, as the kernel takes it: instructions of classic BPF, for this machine's
// system calls and those of its 32-bit programs.
Result<std::string> systemCallFilter();

// Whether this machine's kernel takes such filters.
bool hasSystemCallFilters();

}  // namespace tarcil
