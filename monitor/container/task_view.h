// What tasks without a root file system of their own see of the server's files.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "monitor/container/container_options.h"
#include "monitor/logic/devices/extra_devices.h"

namespace tarcil {

// Paths without symbolic links on the way, in the order in which the shim mounts them (shim/mounts.h).
struct TaskView {
  std::vector<std::string> shares;
  std::vector<std::string> hidden;
  std::vector<DeviceNumber> devices;  // that are shared
};

// /home, /srv, /var/tmp and what the options share, as far as it is there; what is hidden is the data folder
// and what the options hide. A path below another one of its list is left out.
TaskView taskViewOf(const ContainerOptions& options);

// Paths that an operator may name, of shares as of what is hidden.
inline constexpr size_t kMaxViewOptions = 32;

// kInvalid: there are more than these, or one cannot be shared or hidden: it is not absolute, is not there,
// or is a folder that each task has one of its own for (/, /proc, /sys, /dev).
Status checkViewPaths(const std::vector<std::string>& paths);

}  // namespace tarcil
