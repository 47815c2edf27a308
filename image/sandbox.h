// Where an image is fetched and unpacked: with the rights of a user who has none, and nowhere but in one
// folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil::image {

struct Sandbox {
  std::string stage;  // the folder; may be below folders that the user may not enter
  std::string point;  // a folder of the server on which it is seen
  uid_t uid = 65534;
  gid_t gid = 65534;
  uint64_t maxFileBytes = 0;
  uint32_t owner = 0;  // process of whoever started this process: when they are gone it ends
};

// Returns in a child, which has process, mount and IPC namespaces of its own, is in `point`, runs as the user
// without further groups, and can get no more rights; all of its processes die with it, and it with this
// process, which waits for it and exits as it does. Requires: root, one thread.
Status enter(const Sandbox& sandbox);

}  // namespace tarcil::image
