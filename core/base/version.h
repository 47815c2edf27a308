// The version of everything built from this tree, as CMakeLists.txt has it.
#pragma once

namespace tarcil {

// "0.1.0": major, minor and patch.
const char* version();

}  // namespace tarcil
