// How a ContainerExecutor is set up. Constant while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/cgroup_tree.h"
#include "monitor/task_store.h"

namespace tarcil {

struct ContainerOptions {
  // Folder of this server alone: tasks, what is left of them, trash. Made if it is missing, open to its owner
  // only.
  std::string dataDirectory;

  // The program tarcil-shim of the same build.
  std::string shim;

  // Cgroups are named tarcil-<tag>/<server>/<allocation>: the tag tells clusters on one machine apart.
  std::string tag;
  std::string server;

  // Cores that tasks may use. Resource unit i is core cores[i % cores.size()]: with more units than cores
  // several units share a core. Empty: tasks are not kept to cores.
  std::vector<uint32_t> cores;

  // Bytes of memory that belong to one resource unit; the limit of tasks that name none. 0: no limit.
  uint64_t memoryPerRu = 0;

  // Processes and threads of tasks that name no limit. Enough for any honest program, too few to hurt the
  // machine.
  uint32_t defaultPids = 4096;

  // Output of ended and forgotten tasks that is kept; the oldest goes first.
  KeepDone keepDone;

  // Each task sees its private working directory here, whatever the rights of the folders above
  // dataDirectory. Made if it is missing; nothing is ever visible in it outside of tasks.
  std::string workPoint = "/run/tarcil/work";

  SystemPaths system;
};

}  // namespace tarcil
