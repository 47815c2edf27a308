// Files that servers keep of tasks that have ended (`results` of their jobs), as an agent tells of them.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cli/cluster.h"
#include "core/base/ids.h"
#include "core/model/result_files.h"

namespace tarcil {

struct KeptFiles {
  bool ended = false;  // the task's last attempt; before, there are none
  AllocationId allocation = 0;
  std::vector<ResultFile> files{};  // in order of their paths
};

// All of a task. Every path stays inside of the folder that it is put into. A kj::Exception as NotFound where
// they are gone; Failure where an answer is none that a server gives.
KeptFiles keptFiles(Cluster& cluster, const JobId& job, TaskIndex task);

// Hands the whole of one of them on, piece by piece. Failure where it is not as long as it was said to be.
void readKeptFile(Cluster& cluster, const JobId& job, TaskIndex task, AllocationId allocation,
                  const ResultFile& file, const std::function<void(std::string_view)>& sink);

}  // namespace tarcil
