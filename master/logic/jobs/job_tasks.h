// The tasks of one job in the master's memory: one that was never placed takes none.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <type_traits>

#include "core/state/job_state.h"

namespace tarcil::master {

// A job may have 100,000 tasks of which few ever run at once, and of one that waits there is nothing to say
// but that it waits. Records are made in pages, when the first task of a page is changed; the tasks without
// one are all queued, or all cancelled with the job. Not every record in memory is stored: of one that is
// not, the store says the same by having none (TaskRecord).
class JobTasks {
 public:
  JobTasks() = default;
  // Every task in the state, which is queued or cancelled.
  JobTasks(const JobId& job, uint32_t count, RunState state);

  size_t size() const { return size_; }
  RunState state(TaskIndex index) const;
  uint32_t attempt(TaskIndex index) const;

  // Null where the task has no record. Valid as long as the job.
  const TaskRecord* find(TaskIndex index) const;
  // Requires: the task has a record, as each has that was ever placed.
  const TaskRecord& operator[](TaskIndex index) const { return *find(index); }
  // Makes the record where there is none.
  TaskRecord& operator[](TaskIndex index);
  // As its record says or would say.
  TaskRecord copy(TaskIndex index) const;

  // Calls `visit` with each record there is, in order of the tasks. It may change them.
  template <typename Visit>
  void forEachRecord(Visit visit) {
    visitPages(*this, visit);
  }
  template <typename Visit>
  void forEachRecord(Visit visit) const {
    visitPages(*this, visit);
  }

  // Those without a record are cancelled from now on; how many that are. Requires: they are queued.
  uint32_t cancelWithoutRecord();
  // Those without a record that were cancelled with the job are queued from now on; how many that are.
  uint32_t queueWithoutRecord();

 private:
  using Page = std::unique_ptr<TaskRecord[]>;
  // Of some hundred bytes each: a page is some 20 KB, and the list of a job's pages no more.
  static constexpr TaskIndex kPageSize = 64;

  TaskIndex sizeOf(size_t page) const {
    return std::min(kPageSize, size_ - static_cast<TaskIndex>(page) * kPageSize);
  }
  TaskRecord withoutRecord(TaskIndex index) const;
  uint32_t countWithoutRecord() const;

  template <typename Tasks, typename Visit>
  static void visitPages(Tasks& tasks, Visit& visit) {
    for (size_t page = 0; page < tasks.pages_.size(); ++page) {
      if (!tasks.pages_[page]) continue;
      for (TaskIndex i = 0; i < tasks.sizeOf(page); ++i) {
        // A reference to const where the tasks are: the page's own constness says nothing.
        visit(static_cast<std::conditional_t<std::is_const_v<Tasks>, const TaskRecord&, TaskRecord&>>(
            tasks.pages_[page][i]));
      }
    }
  }

  JobId job_;
  uint32_t size_ = 0;
  RunState withoutRecord_ = RunState::kQueued;
  // Most jobs have one. Those that are null, and those beyond the end, are not made yet.
  boost::container::small_vector<Page, 1> pages_;
};

}  // namespace tarcil::master
