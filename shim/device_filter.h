// Keeps the processes of a cgroup from devices.
#pragma once

#include <cstdint>

namespace tarcil {

// Has the kernel ask this program (BPF_PROG_TYPE_CGROUP_DEVICE, so many instructions of 8 bytes) about every
// use of a device by the processes in `cgroup`, a directory of version 2, as long as that is there. It takes
// the place of one that was attached before. 0, or the failed call's result.
long attachDeviceFilter(const char* cgroup, const void* program, uint32_t instructions);

}  // namespace tarcil
