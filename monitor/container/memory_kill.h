// What the kernel's log says of a process that it killed for memory: which one, and who held how much. Nobody
// else knows: when the kill is noticed the process is gone, and its memory with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

struct MemoryHolder {
  std::string name;  // a process's, as it called itself, with '?' for what cannot be printed
  uint64_t bytes = 0;

  bool operator==(const MemoryHolder&) const = default;
};

struct MemoryKill {
  bool atOwnLimit = true;  // of the task; else a larger group, or the whole server, had no memory left
  MemoryHolder killed;
  std::vector<MemoryHolder>
      others;                  // processes of the task, the largest first; empty unless at its own limit
  uint64_t filesInMemory = 0;  // bytes that the task's files in /dev/shm and the like held; as above

  bool operator==(const MemoryKill&) const = default;
};

// The last kill in the task's cgroup, named by the end of its path: "/tarcil-x/server/17". nullopt: the log
// says nothing of it, or no longer. Never fails, whatever the log holds: tasks name their processes. Pure.
std::optional<MemoryKill> lastMemoryKill(std::string_view kernelLog, std::string_view cgroup);

// For people. `limit`: the task's, in bytes, or 0.
std::string memoryKillText(const std::optional<MemoryKill>& kill, uint64_t limit);

// The newest part of the kernel's log, each line with its level and time; empty where this process may not
// read it.
std::string kernelLog();

}  // namespace tarcil
