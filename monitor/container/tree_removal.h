// Removal of what a task leaves: trees of any depth.
#pragma once

#include <string>

namespace tarcil {

// Removes `path` with all that is below it. Flat: folders are moved to the top before they are emptied, so
// that it takes three descriptors and no stack, however deep the tree is. Symbolic links are removed, not
// followed. Whether all is gone; what cannot be removed, mount points among it, stays. Requires: nobody adds
// to it meanwhile.
bool removeTree(const std::string& path);

}  // namespace tarcil
