// The files that all masters of a cluster have, as `tarcil join` brings them from one to another.
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

// Invalid, naming it, where the folder is a master's already.
Status checkNoMaster(const std::string& data);

// Where serveMaster() finds them; and the first operator's token where commands on this machine find it.
// Invalid where they cannot be written.
Status writeMasterKeys(const std::string& data, const std::string& authority, const MasterKeys& keys);

// Of a join that failed. Requires: checkNoMaster() before.
void removeMasterKeys(const std::string& data);

}  // namespace tarcil
