// The device nodes of a server's extras (GPUs and the like), and which of them a task may open: those of the
// extras that it holds. Pure; the nodes are looked up in monitor/container/device_nodes.h.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

inline constexpr size_t kMaxExtraDevices = 1'024;  // nodes of one server
inline constexpr size_t kMaxDevicePathBytes = 255;

// What the kernel knows a device by, whatever its nodes are called.
struct DeviceNumber {
  bool isBlock = false;  // else it is a character device
  uint32_t major = 0;
  uint32_t minor = 0;

  auto operator<=>(const DeviceNumber&) const = default;
};

struct DeviceNode {
  std::string path;  // below /dev
  DeviceNumber number{};
  uint32_t permissions = 0;  // as chmod takes them
  uint32_t uid = 0;          // owner
  uint32_t gid = 0;

  bool operator==(const DeviceNode&) const = default;
};

// A node that comes with extras of a kind.
struct ExtraDevice {
  std::string kind;
  std::optional<uint16_t> extra{};  // the one that it comes with; none: any one of the kind
  DeviceNode node{};

  bool operator==(const ExtraDevice&) const = default;
};

// Adds the devices that an argument of --extra-device names, "KIND=PATH", of which only the path is known
// then: with {n} in the path, one for each of the kind's extras. kInvalid, for people: it is no such
// argument, the server has no extras of that kind, a path is there already, or there are too many.
Status addExtraDevices(std::string_view argument, const Extras& extras, std::vector<ExtraDevice>& to);

// kInvalid, for people: a device has nodes that come with different extras, so that it is not said whose it
// is.
Status checkOwners(const std::vector<ExtraDevice>& devices);

// What a task that holds these extras may not open: ascending, without repetition.
std::vector<DeviceNumber> deniedDevices(const std::vector<ExtraDevice>& devices, const ExtraNumbers& held);
// And the nodes that are there for it.
std::vector<DeviceNode> grantedNodes(const std::vector<ExtraDevice>& devices, const ExtraNumbers& held);

}  // namespace tarcil
