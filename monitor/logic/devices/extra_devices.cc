#include "monitor/logic/devices/extra_devices.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.h"

namespace tarcil {
namespace {

constexpr std::string_view kFolder = "/dev/";
constexpr std::string_view kNumber = "{n}";

// Whether it leads to a file below /dev by its plain name, and so to the same one in any /dev.
bool isDevicePath(std::string_view path) {
  if (!path.starts_with(kFolder) || path.size() > kMaxDevicePathBytes || !isPrintable(path)) return false;
  for (size_t from = kFolder.size(); from <= path.size();) {
    const size_t to = std::min(path.find('/', from), path.size());
    const std::string_view part = path.substr(from, to - from);
    if (part.empty() || part == "." || part == "..") return false;
    from = to + 1;
  }
  return true;
}

std::string withNumber(std::string path, uint32_t number) {
  for (size_t at; (at = path.find(kNumber)) != std::string::npos;) {
    path.replace(at, kNumber.size(), std::to_string(number));
  }
  return path;
}

// "gpus 0", or "any of gpus".
std::string ownerOf(const ExtraDevice& device) {
  return device.extra ? device.kind + " " + std::to_string(*device.extra) : "any of " + device.kind;
}

Status add(ExtraDevice device, std::vector<ExtraDevice>& to) {
  const auto same = std::find_if(to.begin(), to.end(), [&device](const ExtraDevice& other) {
    return other.node.path == device.node.path;
  });
  if (same != to.end()) {
    return invalid(shown(device.node.path) + " is given twice, for " + ownerOf(*same) + " and " +
                   ownerOf(device) + "; keep one");
  }
  if (to.size() == kMaxExtraDevices) {
    return invalid("there are more than " + std::to_string(kMaxExtraDevices) + " devices; leave some out");
  }
  to.push_back(std::move(device));
  return {};
}

bool isHeld(const ExtraDevice& device, const ExtraNumbers& held) {
  const auto found = held.find(device.kind);
  if (found == held.end()) return false;
  const auto& numbers = found->second;
  if (!device.extra) return !numbers.empty();
  return std::find(numbers.begin(), numbers.end(), *device.extra) != numbers.end();
}

}  // namespace

Status addExtraDevices(std::string_view argument, const Extras& extras, std::vector<ExtraDevice>& to) {
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos) {
    return invalid(shown(argument) + " is no pair; write KIND=PATH, for example gpus=/dev/nvidia{n}");
  }
  const std::string kind(argument.substr(0, equals)), path(argument.substr(equals + 1));
  const auto count = extras.find(kind);
  if (count == extras.end()) {
    return invalid("this server has no extras of the kind " + shown(kind) + "; give them too, as --extra " +
                   (kind.empty() ? "gpus" : kind) + "=COUNT");
  }
  if (!isDevicePath(path)) {
    return invalid(shown(path) + " is no path of a device; write one below /dev, for example /dev/nvidia{n}");
  }
  if (path.find(kNumber) == std::string::npos) return add({kind, std::nullopt, {path}}, to);
  for (uint32_t number = 0; number < count->second; ++number) {
    ExtraDevice device{kind, static_cast<uint16_t>(number), {withNumber(path, number)}};
    if (Status added = add(std::move(device), to); !added) return added;
  }
  return {};
}

Status checkOwners(const std::vector<ExtraDevice>& devices) {
  std::map<DeviceNumber, const ExtraDevice*> seen;
  for (const ExtraDevice& device : devices) {
    const ExtraDevice& first = *seen.emplace(device.node.number, &device).first->second;
    if (first.kind == device.kind && first.extra == device.extra) continue;
    return invalid(device.node.path + " (" + ownerOf(device) + ") is the same device as " + first.node.path +
                   " (" + ownerOf(first) + "); keep one");
  }
  return {};
}

std::vector<DeviceNumber> deniedDevices(const std::vector<ExtraDevice>& devices, const ExtraNumbers& held) {
  std::set<DeviceNumber> denied;
  for (const ExtraDevice& device : devices) {
    if (!isHeld(device, held)) denied.insert(device.node.number);
  }
  return {denied.begin(), denied.end()};
}

std::vector<DeviceNode> grantedNodes(const std::vector<ExtraDevice>& devices, const ExtraNumbers& held) {
  std::vector<DeviceNode> granted;
  for (const ExtraDevice& device : devices) {
    if (isHeld(device, held)) granted.push_back(device.node);
  }
  return granted;
}

}  // namespace tarcil
