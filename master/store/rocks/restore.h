// Makes a store of a backup (`tarcil master restore`).
#pragma once

#include <string>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "master/store/store.h"

namespace tarcil {

// Copies the backup to the folder `store`, an absolute path that is not there or empty, and makes the changes
// of master/store/restoring.h there. The backup stays as it is, and may be restored again. Gives the
// cluster's record as restored. Invalid where one of the folders cannot be used; after any failure there is
// no folder `store`.
Result<ClusterRecord> restoreStore(const std::string& backup, const std::string& store, WallTime now,
                                   Rng& rng);

}  // namespace tarcil
