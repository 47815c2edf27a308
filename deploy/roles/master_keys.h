// The files that all masters of a cluster have, as `tarcil init` makes them and `tarcil join` brings them to
// another master.
#pragma once

#include <string>

#include "core/base/result.h"
#include "identity/certificates.h"
#include "identity/logic/member.h"

namespace tarcil {

// `tokens` and `secrets`: the files of this master; the second may be empty. Invalid where one cannot be
// read.
Result<MasterKeys> readMasterKeys(const Authority& authority, const std::string& tokens,
                                  const std::string& secrets);

// Invalid, naming it, where the folder has some already.
Status checkNoMasterKeys(const std::string& data);

// Where serveMaster() finds them. Invalid where they cannot be written.
Status writeMasterKeys(const std::string& data, const std::string& authority, const MasterKeys& keys);

}  // namespace tarcil
