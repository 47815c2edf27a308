// The task's secrets, as files in memory.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// Mounts a file system of the task's own in memory at kSecretsPoint, writes what is in kSecretsFd into files
// that only the task's user can read, and empties that. Nobody can write there afterwards. Nothing where the
// plan names none. Requires: the task's mount namespace, /run as the task sees it, root.
//
// False: `report` says why.
bool giveSecrets(const Plan& plan, Report& report);

}  // namespace tarcil
