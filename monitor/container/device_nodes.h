// Looks up the device nodes of a server's extras.
#pragma once

#include <string>
#include <vector>

#include "monitor/logic/devices/extra_devices.h"

namespace tarcil {

// What the arguments of --extra-device come to on this machine now. kInvalid, for people: as
// addExtraDevices() and checkOwners() say, or a path leads to no device.
Result<std::vector<ExtraDevice>> findExtraDevices(const std::vector<std::string>& arguments,
                                                  const Extras& extras);

}  // namespace tarcil
