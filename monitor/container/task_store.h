// The folders in which tasks leave what must survive a monitor.
//
//   <data>/executor.lock      held by the one executor that uses the folder
//   <data>/lease              until when tasks of exclusive jobs may live (shim/lease.h)
//   <data>/boot               the machine's boot that the tasks are of (/proc/sys/kernel/random/boot_id)
//   <data>/tasks/<allocation>/
//     launch    what was to be started (task_records.h); written before start
//     lock      holds the shim's pid; flock(LOCK_EX) is held by the monitor while it starts the shim and by
//               the shim as long as it lives, never by a process of the task
//     exit.new  room for `exit`, taken before the command is executed
//     started   the same file, from just before the command is executed; microseconds since 1970
//     exit      the same file, once it says how the task ended (shim/exit_record.h)
//     units     which resource units it has, where they are others than it was launched with
//               (task_records.h); before it gets one, and after one is taken from it
//     reason    why the monitor ends the task, before it signals that (task_records.h)
//     image     digest of the image that it runs in, once that is there; before it starts
//     overrun   what limit the monitor kills the task for, for people, before it does
//     stdout, stderr   from the first byte on
//     taken     FIFO of a streamed task: up to where its output has arrived (shim/plan.h)
//     results/, results.list   files that are kept for the task's user (task_results.h)
//     config.json  of a task that crun runs, made by the monitor (monitor/container/oci_bundle.h)
//     work/     the task's private working directory
//     tmp/      what the task sees as /tmp
//   <data>/done/<allocation>/ the same of tasks forgotten, work/ and tmp/ emptied; empty for one that was
//   forgotten
//               without having been recorded. Bounded in number, bytes and age (kept_tasks.h). Also the mark
//               that the allocation is over
//   <data>/spare/             room for `units`, `reason` and `overrun` when a task has filled the disk
//   (spare_files.h) <data>/trash/             on its way out
//
// So, to a monitor that comes back: lock held -> the task is supervised. Lock free, and so free for ever:
// `exit` -> ended so; else `started` -> nobody knows how it ended; else it was never executed.
//
// Nothing is synced to the disk. A kill -9 of the monitor or of the shim loses no completed write, and after
// a crash of the machine there is no task that a record could lead to: whatever an earlier boot left without
// a whole `exit` gets one that says lost, whether a `started` has survived or not. A launch that the crash
// took with it altogether is unknown here, and the master, which hears at the next attachment which tasks
// this server knows, counts it as lost as well. A sync would cost every task 0.2 ms and save none of them.
//
// The folder of the task in done/ that goes next becomes the next task's, files and all. To make and remove
// six files a task is what costs most otherwise, above all on ext4 without a journal, where each new file
// searches past all that were removed within the last minutes.
#pragma once

#include <kj/io.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/launch.h"
#include "monitor/container/kept_tasks.h"
#include "monitor/container/spare_files.h"
#include "monitor/container/sweeper.h"

namespace tarcil {

// Locked by the monitor that uses the folder, for as long as it lives.
inline constexpr const char* kExecutorLock = "executor.lock";

class TaskStore {
 public:
  // Makes the folders. kUnavailable: another executor uses them. kInternal: they cannot be made.
  static Result<std::unique_ptr<TaskStore>> open(const std::string& dataDirectory, KeepDone keep);

  std::string directory(AllocationId allocation) const;

  // Writes `launch`; the task's folder appears with it whole. A launch that is recorded already stays.
  Status record(const LaunchSpec& spec);

  // Takes the lock of a task that no shim runs for, ready to be inherited by one. kConflict: it is held.
  Result<kj::AutoCloseFd> lockForStart(AllocationId allocation);

  // A shim lives (or a monitor is starting one). Requires: this process does not hold the lock.
  bool lockHeld(AllocationId allocation) const;

  // The pid that the shim wrote; nullopt as long as it did not. Of a living shim only while lockHeld().
  std::optional<pid_t> supervisor(AllocationId allocation) const;

  // Empty folders work and tmp that belong to the user; what an interrupted start left in them is thrown
  // away, and so is one that was another user's, or that takes up more of the disk than a new one. Returns
  // work.
  Result<kj::AutoCloseFd> makeWork(AllocationId allocation, uid_t uid, gid_t gid);

  // Writes `config.json`.
  Status writeContainer(AllocationId allocation, const std::string& config);

  // Writes `image`.
  Status recordImage(AllocationId allocation, const std::string& digest);

  // As it was recorded, with the image that it runs in.
  std::optional<LaunchSpec> launch(AllocationId allocation) const;
  std::optional<WallTime> started(AllocationId allocation) const;
  std::optional<TaskEnd> exit(AllocationId allocation) const;

  // Writes `units`; a later one replaces it. A full disk has room for some of these, of `reason` and of
  // `overrun`.
  Status recordUnits(AllocationId allocation, const std::vector<RuIndex>& rus);
  std::optional<std::vector<RuIndex>> units(AllocationId allocation) const;

  // Writes `reason`; a later one replaces it.
  Status recordReason(AllocationId allocation, EndCause reason);
  std::optional<EndCause> reason(AllocationId allocation) const;

  // Writes `overrun`; a later one replaces it.
  Status recordOverrun(AllocationId allocation, const std::string& problem);
  std::optional<std::string> overrun(AllocationId allocation) const;

  // Until when tasks of exclusive jobs may live: nanoseconds of the machine's CLOCK_BOOTTIME. Before the
  // first call, of this process or a predecessor since the boot, none may.
  Status writeLease(int64_t until);
  std::string leaseFile() const { return data_ + "/lease"; }

  // Tasks with a folder, ascending.
  std::vector<AllocationId> tasks() const;

  // Moves a task to done/ and empties its private folders; one that was never recorded gets an empty
  // folder there.
  void forget(AllocationId allocation, WallTime now);

  // Tasks with a folder in done/: forgotten lately, the oldest first.
  std::vector<AllocationId> forgotten() const;

  // Throws away what is too old, or too much, of what is kept in done/. forget() does it too.
  void prune(WallTime now);

  // Throws a task's folder away.
  void discard(AllocationId allocation);

 private:
  TaskStore(std::string dataDirectory, KeepDone keep, kj::AutoCloseFd lock);
  void settleEarlierBoot();
  void loadDone();
  Status makeFolder(const std::string& path, const std::string& submitter);
  Result<kj::AutoCloseFd> makePrivate(const std::string& path, uid_t uid, gid_t gid, mode_t mode);
  bool recycleKept(const std::string& path, const std::string& submitter);
  std::string keptFolder(AllocationId allocation) const;
  void throwAway(const std::string& path);
  std::string file(AllocationId allocation, const char* name) const;

  const std::string data_;
  const kj::AutoCloseFd lock_;
  SpareFiles spares_;
  KeptTasks kept_;  // in done/
  uint64_t trashed_ = 0;
  Sweeper sweeper_;
};

}  // namespace tarcil
