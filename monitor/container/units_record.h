// The file `units` of a task's directory: the resource units that it has, where those are not the ones it was
// launched with. Numbers with a blank after each, and a newline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace tarcil {

std::string unitsRecord(const std::vector<RuIndex>& rus);

// nullopt for anything but a whole record of some units.
std::optional<std::vector<RuIndex>> parseUnitsRecord(std::string_view text);

}  // namespace tarcil
