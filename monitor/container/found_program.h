// Programs of the server that tasks are made with.
#pragma once

#include <string>

namespace tarcil {

// The program's path, where PATH leads to it by folders that are absolute; else empty.
std::string findProgram(const std::string& name);

}  // namespace tarcil
