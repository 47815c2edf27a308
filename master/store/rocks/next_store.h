// A restored store that waits for its master's next start: where a supervisor starts a master again at once,
// nobody else could put one in the place of its store, and tasks need not be stopped for it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

// The folder in which it waits, beside the store's own.
std::string nextStore(const std::string& store);

// Puts it in the place of `store`, an absolute path, whose folder is kept, and named here: empty where there
// was none. nullopt: none waits, and nothing was done. Conflict: a process uses the store. After a crash on
// the way the next call goes on.
Result<std::optional<std::string>> takeNextStore(const std::string& store, WallTime now);

// The process that uses it.
std::optional<pid_t> userOfStore(const std::string& store);

}  // namespace tarcil
