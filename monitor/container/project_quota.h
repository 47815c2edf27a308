// Project quotas of the file system that tasks work on (ext4 and XFS, mounted with prjquota): the folders of
// a task are a project of their own, and a write beyond its limit fails.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/rng.h"

namespace tarcil {

// Projects of tasks have these numbers; those below are the administrator's.
inline constexpr uint32_t kFirstTaskProject = uint32_t{1} << 31;
inline constexpr uint32_t kLastTaskProject = UINT32_MAX - 1;  // UINT32_MAX is no project

constexpr bool isTaskProject(uint32_t project) {
  return project >= kFirstTaskProject && project <= kLastTaskProject;
}

// A number for a task, each of them with the same chance.
uint32_t drawTaskProject(Rng& rng);

// Of a project: what it takes up, or what it may.
struct ProjectSpace {
  uint64_t bytes = 0;
  uint64_t files = 0;

  bool operator==(const ProjectSpace&) const = default;
};

// What a project may take up where `bytes` come to what is there, with a file for each
// DiskWalk::kMinFileBytes of them. A multiple of 1024 bytes, which quotas are counted in, and never 0, which
// would be no limit.
ProjectSpace quotaFor(uint64_t bytes, const ProjectSpace& there);

// A folder hands its project down no more: folders of others can be moved into it. Nothing where the file
// system knows no projects.
void stopHandingProjectDown(int folder);

// Of one file system. A number is taken while a file or folder of that project is left, which the file system
// itself counts: monitors need not know of each other to take different ones, and which one a task has is
// written at its folders, so that a successor finds it there. Not bound to a thread.
class ProjectQuotas {
 public:
  // Of the file system of `folder`. kUnavailable: it has none, does not enforce them, or this process may not
  // set them; the message says which.
  static Result<ProjectQuotas> open(const std::string& folder);

  // Makes the two empty folders one project, which may take up so many bytes more than they do. Where they
  // are one already, it stays. kInternal: that failed, and they are without a limit. Requires: no process
  // uses the folders.
  Status limit(const std::string& work, const std::string& temporary, AllocationId allocation,
               uint64_t bytes) const;

  // limit() has been called for this folder, and release() has not.
  bool limits(const std::string& work) const;

  // Takes the limit of the folder's project away, if it is a task's. To be called before the folder goes:
  // later nobody knows the number.
  void release(const std::string& work) const;

 private:
  struct Usage {
    ProjectSpace used;
    ProjectSpace limit;
  };

  ProjectQuotas(kj::AutoCloseFd file, uint64_t place) : file_(kj::mv(file)), place_(place) {}

  // With errno where they fail.
  bool read(uint32_t project, Usage& usage) const;
  bool write(uint32_t project, const ProjectSpace& limit) const;

  // True: the two folders are all of this project.
  Result<bool> claim(uint32_t project, int work, int temporary) const;
  Result<uint32_t> projectFor(int work, int temporary, AllocationId allocation) const;

  kj::AutoCloseFd file_;  // any on the file system
  uint64_t place_;        // tells folders of monitors apart, mostly
};

}  // namespace tarcil
