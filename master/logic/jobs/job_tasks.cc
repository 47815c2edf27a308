#include "master/logic/jobs/job_tasks.h"

namespace tarcil::master {

JobTasks::JobTasks(const JobId& job, uint32_t count, RunState state)
    : job_(job), size_(count), withoutRecord_(state) {}

const TaskRecord* JobTasks::find(TaskIndex index) const {
  const size_t page = index / kPageSize;
  return page < pages_.size() && pages_[page] ? &pages_[page][index % kPageSize] : nullptr;
}

RunState JobTasks::state(TaskIndex index) const {
  const TaskRecord* record = find(index);
  return record == nullptr ? withoutRecord_ : record->state;
}

uint32_t JobTasks::attempt(TaskIndex index) const {
  const TaskRecord* record = find(index);
  return record == nullptr ? 0 : record->attempt;
}

TaskRecord& JobTasks::operator[](TaskIndex index) {
  const size_t page = index / kPageSize;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (!pages_[page]) {
    const TaskIndex size = sizeOf(page);
    pages_[page] = std::make_unique<TaskRecord[]>(size);
    for (TaskIndex i = 0; i < size; ++i) {
      pages_[page][i] = withoutRecord(static_cast<TaskIndex>(page) * kPageSize + i);
    }
  }
  return pages_[page][index % kPageSize];
}

TaskRecord JobTasks::copy(TaskIndex index) const {
  const TaskRecord* record = find(index);
  return record == nullptr ? withoutRecord(index) : *record;
}

uint32_t JobTasks::cancelWithoutRecord() {
  withoutRecord_ = RunState::kCancelled;
  return countWithoutRecord();
}

uint32_t JobTasks::queueWithoutRecord() {
  if (withoutRecord_ == RunState::kQueued) return 0;
  withoutRecord_ = RunState::kQueued;
  return countWithoutRecord();
}

uint32_t JobTasks::countWithoutRecord() const {
  uint32_t without = size_;
  for (size_t page = 0; page < pages_.size(); ++page) {
    if (pages_[page]) without -= sizeOf(page);
  }
  return without;
}

TaskRecord JobTasks::withoutRecord(TaskIndex index) const {
  TaskRecord record;
  record.job = job_;
  record.index = index;
  record.state = withoutRecord_;
  if (record.state == RunState::kCancelled) record.end.cause = EndCause::kCancelled;
  return record;
}

}  // namespace tarcil::master
