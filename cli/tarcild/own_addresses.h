// Where a new master is found, as `tarcil init` and `tarcil join` are told.
#pragma once

#include <string>

#include "rpc/identity_folder.h"

namespace tarcil {

// The values of --listen and --join; where the second is empty machines join at the port behind the first's.
// Bad input, naming the flag, where others could not dial one.
MasterAddresses ownAddresses(const std::string& listen, const std::string& join);

}  // namespace tarcil
