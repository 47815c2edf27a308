// A program of the system that is run to its end.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Found by PATH and in /usr/sbin and /sbin, unless `name` is a path; empty where it is not there.
std::string pathOfTool(const std::string& name);

// Runs it; what it wrote to its standard output. Fails where it is not there or does not exit with 0, with
// the command and what it wrote. Blocks; any thread. Standard input is empty.
Result<std::string> runTool(const std::vector<std::string>& command);

}  // namespace tarcil
