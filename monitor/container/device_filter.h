// Keeps the processes of a cgroup of version 2 from devices, by a small program in the kernel (BPF) that is
// asked whenever one of them opens a device or makes a node of one, whatever it is called and whoever asks.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "monitor/logic/devices/extra_devices.h"

namespace tarcil {

// The program as the kernel takes it: it denies these devices, at most kMaxExtraDevices, and leaves all
// others to whoever else has a say. Empty where there is nothing to deny. Requires: ascending, without
// repetition.
std::string deviceFilter(const std::vector<DeviceNumber>& denied);

// Has the kernel ask this program, which is not empty, about the processes in the cgroup's directory. 0, or
// the failed call's result (shim/device_filter.h).
long attachFilter(const std::string& cgroup, const std::string& filter);

// The program that allows the devices that every task has in a /dev of its own (shim/devices.h), `granted`
// ones, and no other.
std::string deviceAllowance(const std::vector<DeviceNumber>& granted);

// Has the kernel ask that program about all processes in the cgroup's directory and below it, besides what is
// attached there, in place of what an earlier call has attached. kInvalid, for people: they cannot be kept
// from devices.
Status allowDevices(const std::string& parent, const std::vector<DeviceNumber>& granted);

// Whether tasks can be kept from devices: tries it in a cgroup made and removed below `parent`, a directory
// of version 2, or empty where there is none. kInvalid, for people: they cannot.
Status tryDeviceFilter(const std::string& parent);

}  // namespace tarcil
