// Which system calls a task may make.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tarcil {

// A seccomp filter as the kernel takes it: instructions of classic BPF. What ordinary programs call is
// allowed, by name (libseccomp), as of this machine's own calling convention:
//
// - What sets up the machine, leaves the container or opens parts of the kernel that no ordinary program
//   uses fails with EPERM. Calls that take a capability anyway, which no task has, are refused all the same:
//   they are shut before the kernel looks further.
// - What is neither allowed nor refused fails with ENOSYS, and programs go another way: calls that are newer
//   than this list, calls of 32-bit programs and of x32, clone3, whose flags no filter can see, and io_uring.
// - Sockets are of the families unix, inet and inet6, and netlink for routes; others fail with EAFNOSUPPORT,
//   as where the kernel has none.
// - Namespaces are not made, and personalities are those of ordinary and of traced programs (EPERM).
//
// Owners of files could take them, and their folders, out of the project whose quota they count to
// (monitor/container/project_quota.h): attributes of that kind cannot be changed (EPERM).
//
// Tracing is allowed: a task's pid namespace holds nobody else's processes.
//
// kUnavailable: this machine's kernel takes no such filters. Without one no task starts.
Result<std::string> systemCallFilter();

}  // namespace tarcil
