// Control groups as a monitor uses them: which controllers a machine has and where, and what a task is
// limited to. Pure; the tree itself is in monitor/container/cgroup_tree.h, the files of either version in
// monitor/logic/cgroup/cgroup_v1.h and cgroup_v2.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// The controllers that a task is put under. A machine may offer each by version 1, by version 2, or not
// at all.
inline constexpr const char* kCpuset = "cpuset";
inline constexpr const char* kMemory = "memory";
inline constexpr const char* kPids = "pids";
// Only of tasks that are throttled: each hierarchy of version 1 takes time at every start, and under version
// 2 tasks share cores by group, and no more by thread, where it is there.
inline constexpr const char* kCpu = "cpu";

// Controllers of version 1 that only count what tasks use. Version 2 counts CPU time without a controller,
// and disk traffic under this one.
inline constexpr const char* kCpuacct = "cpuacct";
inline constexpr const char* kBlkio = "blkio";
inline constexpr const char* kIo = "io";

struct CgroupMounts {
  std::map<std::string, std::string> v1;  // controller -> mount point of its hierarchy; several may share one
  std::string v2;                         // mount point of the unified hierarchy, or empty

  bool operator==(const CgroupMounts&) const = default;
};

// Reads the text of /proc/self/mounts. Of two mounts of the same hierarchy the first counts.
CgroupMounts parseCgroupMounts(std::string_view mounts);

// Words of a file such as cgroup.controllers.
std::vector<std::string> parseWords(std::string_view text);

// "0-2,5", the form of cpuset files. Requires: ascending, without repetition.
std::string coreList(const std::vector<uint32_t>& cores);

// A name that is one path component: everything but letters, digits, '-', '_' and '.' becomes '_';
// never hidden.
std::string cgroupName(std::string_view text);

// Empty and 0: no limit.
struct TaskLimits {
  std::vector<uint32_t> cores;  // ascending, without repetition
  uint64_t memoryBytes = 0;
  uint64_t memoryLowBytes = 0;  // below that, others' memory is taken back first
  uint32_t pids = 0;
  uint32_t ioWeight = 0;            // relative to other groups, of which each has 100 unless told otherwise
  std::vector<std::string> disks;   // "MAJOR:MINOR"; each gets the limit that follows
  uint64_t diskBytesPerSecond = 0;  // of reading and of writing
};

// What a throttled task may use.
struct ThrottleLimits {
  uint64_t cpuMicros = 0;            // of CPU time in each kCpuPeriodMicros; 0: no limit
  std::vector<std::string> disks{};  // "MAJOR:MINOR"; each gets the limit that follows
  uint64_t diskBytesPerSecond = 0;   // of reading and of writing; 0: no limit
};

inline constexpr uint64_t kCpuPeriodMicros = 100'000;  // the kernel's default

// What a machine has of what not all have.
struct CgroupFeatures {
  bool limitSwap = false;
  std::string ioWeightFile;   // name of the file that takes a weight, or empty
  uint32_t mostIoWeight = 0;  // that it takes
  bool limitIo = false;       // disk bandwidth

  bool operator==(const CgroupFeatures&) const = default;
};

struct CgroupSetting {
  std::string file;
  std::string value;

  bool operator==(const CgroupSetting&) const = default;
};

// The cgroups of one task; absolute paths.
struct TaskCgroups {
  std::vector<std::string> directories;  // to be made, in this order
  std::vector<CgroupSetting> settings;   // to be written afterwards, in this order
  std::vector<std::string> joins;        // v1: files that the task's first thread writes "0" to
  std::string birth;                     // v2: directory that the task's first process is born in, or empty
  std::string oomFile;                   // has a line "oom_kill N", or empty
  // v1: as `joins`, for what moves the task's output: those that processor time is limited and counted in.
  // One may be there only while the task is throttled. Not memory's: version 1 kills who writes faster than
  // the disk, where version 2 slows it down.
  std::vector<std::string> outputJoins{};
  // What the task has used in all; empty where that is not counted.
  std::string peakFile{};  // bytes of memory
  std::string cpuFile{};   // nanoseconds, or a line "usage_usec N"

  bool operator==(const TaskCgroups&) const = default;
};

}  // namespace tarcil
