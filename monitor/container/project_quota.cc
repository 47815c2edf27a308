#include "monitor/container/project_quota.h"

#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "monitor/container/disk_walk.h"

namespace tarcil {
namespace {

constexpr uint64_t kQuotaBlock = 1024;  // of dqb_bhardlimit, whatever the file system's blocks are

// Of 2^31 numbers; nearly always the first is free.
constexpr int kDraws = 100;

Error failure(const std::string& what) {
  return {ErrorCode::kInternal,
          "cannot " + what + ": " + std::generic_category().message(errno) +
              "; the disk of its server has project quotas, and no task starts there without one"};
}

long controlQuota(int file, int command, uint32_t project, void* argument) {
  const auto operation = static_cast<uint32_t>(QCMD(command, PRJQUOTA));
  return ::syscall(SYS_quotactl_fd, file, operation, project, argument);
}

kj::AutoCloseFd openFolder(const std::string& path) {
  return kj::AutoCloseFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// 0: none, or not known.
uint32_t projectOf(int folder) {
  fsxattr attributes{};
  return ::ioctl(folder, FS_IOC_FSGETXATTR, &attributes) == 0 ? attributes.fsx_projid : 0;
}

// Files and folders that are made in it are of the project too. False, with errno: that failed.
bool setProject(int folder, uint32_t project) {
  fsxattr attributes{};
  if (::ioctl(folder, FS_IOC_FSGETXATTR, &attributes) != 0) return false;
  attributes.fsx_projid = project;
  attributes.fsx_xflags |= FS_XFLAG_PROJINHERIT;
  return ::ioctl(folder, FS_IOC_FSSETXATTR, &attributes) == 0;
}

}  // namespace

uint32_t drawTaskProject(Rng& rng) {
  constexpr uint64_t kNumbers = uint64_t{kLastTaskProject} - kFirstTaskProject + 1;
  return kFirstTaskProject + static_cast<uint32_t>(rng.below(kNumbers));
}

ProjectSpace quotaFor(uint64_t bytes, const ProjectSpace& there) {
  const uint64_t blocks = bytes / kQuotaBlock + there.bytes / kQuotaBlock;
  return {std::max<uint64_t>(blocks, 1) * kQuotaBlock,
          std::max<uint64_t>(bytes / DiskWalk::kMinFileBytes + there.files, 1)};
}

void stopHandingProjectDown(int folder) {
  fsxattr attributes{};
  if (::ioctl(folder, FS_IOC_FSGETXATTR, &attributes) != 0) return;
  if ((attributes.fsx_xflags & FS_XFLAG_PROJINHERIT) == 0) return;
  attributes.fsx_xflags &= ~static_cast<uint32_t>(FS_XFLAG_PROJINHERIT);
  ::ioctl(folder, FS_IOC_FSSETXATTR, &attributes);
}

Result<ProjectQuotas> ProjectQuotas::open(const std::string& folder) {
  const auto none = [](const std::string& why) { return Error{ErrorCode::kUnavailable, why}; };
  kj::AutoCloseFd file = openFolder(folder);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file, &status) != 0) {
    return none("cannot open '" + folder + "': " + std::generic_category().message(errno));
  }
  fs_quota_statv state{};
  state.qs_version = FS_QSTATV_VERSION1;
  if (controlQuota(file, Q_XGETQSTATV, 0, &state) != 0) {
    if (errno == ENOSYS) return none("the file system has none, or the kernel is older than 5.14");
    return none("the file system has none: " + std::generic_category().message(errno));
  }
  constexpr unsigned kWanted = FS_QUOTA_PDQ_ACCT | FS_QUOTA_PDQ_ENFD;
  if ((state.qs_flags & kWanted) != kWanted) return none("the file system is not mounted with prjquota");
  ProjectQuotas quotas(kj::mv(file), status.st_ino);
  Usage usage;
  if (!quotas.read(kFirstTaskProject, usage)) {
    return none("this process may not use them: " + std::generic_category().message(errno));
  }
  return quotas;
}

bool ProjectQuotas::read(uint32_t project, Usage& usage) const {
  if_dqblk block{};
  // XFS has nothing written down of projects that never were.
  if (controlQuota(file_, Q_GETQUOTA, project, &block) != 0 && errno != ENOENT) return false;
  usage.used = {block.dqb_curspace, block.dqb_curinodes};
  usage.limit = {block.dqb_bhardlimit * kQuotaBlock, block.dqb_ihardlimit};
  return true;
}

bool ProjectQuotas::write(uint32_t project, const ProjectSpace& limit) const {
  if_dqblk block{};
  block.dqb_bhardlimit = limit.bytes / kQuotaBlock;
  block.dqb_ihardlimit = limit.files;
  block.dqb_valid = QIF_LIMITS;
  return controlQuota(file_, Q_SETQUOTA, project, &block) == 0;
}

// Of two that claim a number at the same time, the one that looks last finds the other's folders, and both
// may. Neither has set a limit by then.
Result<bool> ProjectQuotas::claim(uint32_t project, int work, int temporary) const {
  Usage usage;
  for (const int folder : {work, temporary}) {
    if (!setProject(folder, project)) return failure("make the task's folders a project");
  }
  if (!read(project, usage)) return failure("read the quota of the task's folders");
  return usage.used.files == 2;
}

Result<uint32_t> ProjectQuotas::projectFor(int work, int temporary, AllocationId allocation) const {
  // Of a task that had the folders before.
  const uint32_t before = projectOf(work);
  if (isTaskProject(before) && projectOf(temporary) == before) {
    const auto mine = claim(before, work, temporary);
    if (!mine) return mine.error();
    if (*mine) return before;
  }
  Rng rng(place_ ^ (allocation << 32 | allocation >> 32));
  for (int draw = 0; draw < kDraws; ++draw) {
    const uint32_t project = drawTaskProject(rng);
    Usage usage;
    if (!read(project, usage)) return failure("read the quota of a project");
    if (usage.used != ProjectSpace{} || usage.limit != ProjectSpace{}) continue;
    const auto mine = claim(project, work, temporary);
    if (!mine) return mine.error();
    if (*mine) return project;
  }
  errno = EBUSY;
  return failure("find a free number for the project of the task's folders");
}

Status ProjectQuotas::limit(const std::string& work, const std::string& temporary, AllocationId allocation,
                            uint64_t bytes) const {
  const kj::AutoCloseFd workFolder = openFolder(work), temporaryFolder = openFolder(temporary);
  if (workFolder.get() < 0 || temporaryFolder.get() < 0) return failure("open the task's folders");
  const auto project = projectFor(workFolder, temporaryFolder, allocation);
  if (!project) {
    // Else its limit, which may be another task's, would go with these folders.
    for (const int folder : {workFolder.get(), temporaryFolder.get()}) setProject(folder, 0);
    return project.error();
  }
  Usage usage;
  if (!read(*project, usage)) return failure("read the quota of the task's folders");
  return write(*project, quotaFor(bytes, usage.used)) ? Status()
                                                      : failure("set the quota of the task's folders");
}

bool ProjectQuotas::limits(const std::string& work) const {
  const kj::AutoCloseFd folder = openFolder(work);
  const uint32_t project = folder.get() < 0 ? 0 : projectOf(folder);
  Usage usage;
  return isTaskProject(project) && read(project, usage) && usage.limit.bytes > 0;
}

void ProjectQuotas::release(const std::string& work) const {
  const kj::AutoCloseFd folder = openFolder(work);
  const uint32_t project = folder.get() < 0 ? 0 : projectOf(folder);
  if (isTaskProject(project)) write(project, {});
}

}  // namespace tarcil
