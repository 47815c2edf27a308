// Named places at which a test can have a process killed, to see what its successor makes of what is left, or
// have something go wrong.
#pragma once

namespace tarcil {

// Kills this process with SIGKILL if the environment variable TARCIL_FAILPOINT is `name`, or `name:n` and
// this is the n-th time (from 1) that the process gets here. With `name!` or `name!:n` throws instead.
// Anything else: returns at once (one string comparison). The variable is read once, at the first call. Safe
// from any thread.
void failpoint(const char* name);

}  // namespace tarcil
