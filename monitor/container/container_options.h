// How a ContainerExecutor is set up. Constant while it runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "monitor/container/cgroup_tree.h"
#include "monitor/container/cpu_topology.h"
#include "monitor/container/image_options.h"
#include "monitor/container/task_store.h"
#include "monitor/logic/devices/extra_devices.h"

namespace tarcil {

class CacheMonitor;

struct ContainerOptions {
  // Folder of this server alone: tasks, what is left of them, trash. Made if it is missing, open to its
  // owner only.
  std::string dataDirectory;

  // The program tarcil-shim of the same build.
  std::string shim;

  // The program tarcil of the same build: what tasks get whose command begins with the word `tarcil`. Empty:
  // they find one by PATH like any program.
  std::string tarcil;

  // Cgroups are named tarcil-<tag>/<server>/<allocation>: the tag tells clusters on one machine apart.
  std::string tag;
  std::string server;
  // Not empty: they are tarcil-<tag>/<server>/<group>/<allocation>, and so counted with the server's.
  std::string group;

  // What resource units are. Each task gets as many of these as it has units
  // (monitor/container/core_choice.h), and no two tasks the same. Empty: tasks are not kept to cores.
  std::vector<CoreUnit> units;

  // There are more resource units than `units`: several share a core, and tasks too.
  bool unitsShareCores = false;

  // Disks, as "MAJOR:MINOR", that limits of disk bandwidth apply to, each by itself.
  std::vector<std::string> disks;

  // Indexes of the interfaces that limits of network traffic apply to, all together.
  std::vector<uint32_t> interfaces;

  // Device nodes of the server's extras: a task can open those of the extras that it holds, and no other of
  // them.
  std::vector<ExtraDevice> extraDevices;

  // Throttles tasks by resctrl; outlives the executor. Null: they are not.
  CacheMonitor* cache = nullptr;

  // Without a root file system of their own tasks see the server's files as their users do, and write where
  // these may; else read-only, but for `shares` (monitor/container/task_view.h).
  bool hostView = false;
  // Folders, files and devices of the server that tasks on its own files see as they are; and those of which
  // they see nothing, besides dataDirectory. Absolute.
  std::vector<std::string> shares;
  std::vector<std::string> hidden;

  // Folders that may be root file systems of tasks, and with all below them. Empty: tasks have none of
  // their own.
  std::vector<std::string> allowedRoots;

  // Whether tasks may run as a user of uid 0.
  bool allowRoot = false;

  // Bytes of memory that belong to one resource unit; the limit of tasks that name none. 0: no limit.
  uint64_t memoryPerRu = 0;

  // Bytes of memory, and processes and threads, that one task gets at most, whatever its job says. 0: no
  // limit.
  uint64_t mostMemory = 0;
  uint32_t mostPids = 0;

  // Groups that tasks may be in besides their user's own one: of these a task has those that its user has.
  std::vector<gid_t> groups;

  // That all tasks together are kept to. 0: no limit.
  uint64_t memoryBytes = 0;

  // Processes and threads of tasks that name no limit. Enough for any honest program, too few to hurt
  // the machine.
  uint32_t defaultPids = 4096;

  // What a task's working directory and its /tmp may take up on the disk together, where the job does not
  // say. 0: diskPerRu for each of its units.
  uint64_t diskPerTask = 0;

  // Bytes on the disk that belong to one resource unit. 0: no limit.
  uint64_t diskPerRu = 0;

  // Between two rounds in which it is looked how much that is.
  Duration diskPause = std::chrono::seconds(10);

  // With less free on the disk of dataDirectory no task starts, in bytes.
  uint64_t diskReserve = 0;

  // Output of ended and forgotten tasks that is kept; the oldest goes first.
  KeepDone keepDone;

  // How long a streamed task that is as far ahead as it may waits for whoever takes its output.
  Duration readerWait = std::chrono::minutes(5);

  // How long a disk of a user's may take to open files that their output goes to, and to write the last of
  // it.
  Duration fileWait = std::chrono::minutes(1);

  // Each task sees its private working directory here, whatever the rights of the folders above
  // dataDirectory. Made if it is missing; nothing is ever visible in it outside of tasks.
  std::string workPoint = "/run/tarcil/work";

  // How images are fetched and kept. Without a program of its own tasks that have one are refused.
  ImageOptions images;

  // The program that runs OCI bundles; empty: tasks that have one are refused.
  std::string crun;

  SystemPaths system;
};

}  // namespace tarcil
