#include "monitor/container/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <system_error>

namespace tarcil {
namespace {

Status lookUp(DeviceNode& node) {
  struct stat status {};
  if (::stat(node.path.c_str(), &status) != 0) {
    return invalid(node.path + " cannot be looked up: " + std::generic_category().message(errno) +
                   "; write the paths of devices that are there");
  }
  if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) {
    return invalid(node.path + " is no device; `ls -l` shows devices with a b or c in front");
  }
  node.number = {S_ISBLK(status.st_mode), major(status.st_rdev), minor(status.st_rdev)};
  node.permissions = status.st_mode & 0777u;
  node.uid = status.st_uid;
  node.gid = status.st_gid;
  return {};
}

}  // namespace

Result<std::vector<ExtraDevice>> findExtraDevices(const std::vector<std::string>& arguments,
                                                  const Extras& extras) {
  std::vector<ExtraDevice> devices;
  for (const std::string& argument : arguments) {
    if (Status added = addExtraDevices(argument, extras, devices); !added) return added.error();
  }
  for (ExtraDevice& device : devices) {
    if (Status found = lookUp(device.node); !found) return found.error();
  }
  if (Status owned = checkOwners(devices); !owned) return owned.error();
  return devices;
}

}  // namespace tarcil
