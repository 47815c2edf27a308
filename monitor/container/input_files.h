// Puts a job's input files into a task's working directory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

// Writes the files below `directoryFd`, making folders as needed; everything belongs to `uid` and `gid`,
// permission bits are those of the file (set-user-id and the like are dropped). Existing files are replaced.
// kInvalid: a path is absolute, empty, or has "", "." or ".." among its parts. No symbolic link is followed
// on the way.
Status writeInputFiles(int directoryFd, const std::vector<InputFile>& files, uid_t uid, gid_t gid);

}  // namespace tarcil
