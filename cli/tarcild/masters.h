// Commands of `tarcil master` about which of several masters leads.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace tarcil {

void addMasterList(CLI::App& master);
void addMasterStepDown(CLI::App& master);

}  // namespace tarcil
