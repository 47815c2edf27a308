// Files that servers keep of tasks that have ended (`results` of their jobs), as an agent tells of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster.h"
#include "core/base/ids.h"
#include "core/model/result_files.h"
#include "formats/json.h"

namespace tarcil {

struct KeptFiles {
  bool ended = false;  // the task's last attempt; before, there are none
  AllocationId allocation = 0;
  std::vector<ResultFile> files{};  // in order of their paths
};

// Permissions as three octal digits.
std::string modeText(uint32_t mode);
// As `tarcil job files --json` lists them.
Json jsonOf(const std::vector<ResultFile>& files);

// All of a task. Every path stays inside of the folder that it is put into. A kj::Exception as NotFound where
// they are gone; Failure where an answer is none that a server gives.
KeptFiles keptFiles(Cluster& cluster, const JobId& job, TaskIndex task);

// Bytes of one of them from `offset` on, some at a time; none at its end. A kj::Exception: as NotFound where
// it is gone, as Conflict where the task's last attempt is another one than `allocation` by now.
std::string readKeptPiece(Cluster& cluster, const JobId& job, TaskIndex task, AllocationId allocation,
                          const std::string& path, uint64_t offset);

// Hands the whole of one of them on, piece by piece. Failure where it is not as long as it was said to be.
void readKeptFile(Cluster& cluster, const JobId& job, TaskIndex task, AllocationId allocation,
                  const ResultFile& file, const std::function<void(std::string_view)>& sink);

}  // namespace tarcil
