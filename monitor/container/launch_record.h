// The file `launch` of a task's directory: what was to be started, kept for the monitor's successor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/launch.h"

namespace tarcil {

// A flat Cap'n Proto message of the wire's LaunchSpec, which only ever grows: any build reads any other's.
std::string encodeLaunch(const LaunchSpec& spec);

// nullopt for anything but a whole record of this allocation.
std::optional<LaunchSpec> decodeLaunch(std::string_view bytes, AllocationId allocation);

}  // namespace tarcil
