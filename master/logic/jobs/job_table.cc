#include "master/logic/jobs/job_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/units.h"
#include "core/model/job_size.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/equivalence_class.h"

namespace tarcil::master {
namespace {

EquivalenceClass classOf(const Job& job) {
  const bool isPartOfAGang = job.record.spec.schedule == Schedule::kGang && job.active() > 0;
  return isPartOfAGang ? ownEquivalenceClass(job.record) : equivalenceClassOf(job.record);
}

}  // namespace

size_t bytesOf(const JobRecord& record) {
  return sizeof(Job) + sizeOf(record.spec) + record.spec.tasks * sizeof(TaskRecord);
}

TaskRecord taskOf(const Job& job, TaskIndex index) {
  TaskRecord task = job.tasks.copy(index);
  if (task.state == RunState::kCancelled && task.end.ended == kNever) task.end.ended = job.progress.finished;
  return task;
}

JobTable::JobTable(std::deque<JobRecord> jobs, std::vector<JobProgress> progress,
                   std::deque<TaskRecord> tasks, Duration ageing, WallTime now)
    : queue_(ageing) {
  for (; !jobs.empty(); jobs.pop_front()) insert(std::move(jobs.front()), now);
  std::sort(progress.begin(), progress.end(), [](const JobProgress& a, const JobProgress& b) {
    return std::tie(a.finished, a.id) < std::tie(b.finished, b.id);
  });
  for (JobProgress& entry : progress) {
    Job* job = find(entry.id);
    if (job == nullptr) continue;
    --counted(*job);
    job->progress = std::move(entry);
    ++counted(*job);
    if (job->progress.heldUntil != kNever) heldUntil_.emplace(job->progress.heldUntil, job->record.id);
    if (isFinal(job->progress.state)) addFinished(*job);
  }
  for (auto& [id, job] : jobs_) makeTasks(job);
  // Tasks come job by job, so memory passes from the one place to the other as this goes on.
  for (; !tasks.empty(); tasks.pop_front()) {
    TaskRecord& task = tasks.front();
    Job* job = find(task.job);
    if (job == nullptr || task.index >= job->tasks.size()) continue;
    recount(*job, job->tasks.state(task.index), task.state, 1);
    if (task.moving && isActive(task.state)) ++job->moving;
    job->tasks[task.index] = std::move(task);
  }
  for (auto& [id, job] : jobs_) reorder(job);
}

Job* JobTable::find(const JobId& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const Job* JobTable::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Job& JobTable::insert(JobRecord record, WallTime now) {
  Job& job = jobs_[record.id];
  job.queued = std::min(record.submitted, now);
  job.record = std::move(record);
  job.progress.id = job.record.id;
  ++counted(job);
  // Almost always the youngest of all: with the hint nothing is searched.
  JobsOfUser& ofUser = ofUser_[job.record.user];
  const std::pair age{job.record.submitted, job.record.id};
  job.index = {.ofUser = &ofUser,
               .byAge = byAge_.insert(byAge_.end(), age),
               .byAgeOfUser = ofUser.byAge.insert(ofUser.byAge.end(), age)};
  if (job.record.number > 0) byNumber_.emplace_hint(byNumber_.end(), job.record.number, &job);
  job.index.equivalenceClass = equivalenceClassOf(job.record);
  job.index.user = ofUser.number = queue_.order().numberOf(job.record.user);
  followers_.add(job.record);
  ++ofUser.unfinished;
  job.index.bytes = bytesOf(job.record);
  ofUser.bytes += job.index.bytes;
  bytes_ += job.index.bytes;
  ofUser.fileBytes += job.record.fileBytes;
  fileBytes_ += job.record.fileBytes;
  return job;
}

void JobTable::makeTasks(Job& job) {
  // Their records were not written when the job was cancelled.
  const RunState state = job.progress.cancelRequested ? RunState::kCancelled : RunState::kQueued;
  job.tasks = JobTasks(job.record.id, job.record.spec.tasks, state);
  job.inState[static_cast<size_t>(state)] = job.record.spec.tasks;
  if (state == RunState::kQueued) job.index.ofUser->queued += job.record.spec.tasks;
}

void JobTable::recount(Job& job, RunState from, RunState to, uint32_t tasks) {
  job.inState[static_cast<size_t>(from)] -= tasks;
  job.inState[static_cast<size_t>(to)] += tasks;
  if (from == RunState::kQueued) job.index.ofUser->queued -= tasks;
  if (to == RunState::kQueued) job.index.ofUser->queued += tasks;
}

Job& JobTable::add(const JobRecord& record, const std::string& owner, WallTime now) {
  Job& job = insert(record, now);
  makeTasks(job);
  job.progress.owner = owner;
  if (record.spec.hold) hold(job, "held by " + record.user);
  if (!job.progress.held && record.spec.startAfter > now) holdUntilItsTime(job);
  noteProgress(job);
  return job;
}

void JobTable::hold(Job& job, const std::string& reason, WallTime until) {
  heldUntil_.erase({job.progress.heldUntil, job.record.id});
  job.progress.held = true;
  job.progress.heldUntil = until;
  job.progress.heldForJobs = false;
  job.progress.reason = reason;
  if (until != kNever) heldUntil_.emplace(until, job.record.id);
  noteProgress(job);
}

void JobTable::holdForJobs(Job& job, const std::string& reason) {
  hold(job, reason);
  job.progress.heldForJobs = true;
}

void JobTable::holdUntilItsTime(Job& job) {
  const WallTime time = job.record.spec.startAfter;
  hold(job, "starts after " + formatTime(time), time);
}

void JobTable::release(Job& job) {
  heldUntil_.erase({job.progress.heldUntil, job.record.id});
  job.progress.held = false;
  job.progress.heldUntil = kNever;
  job.progress.heldForJobs = false;
  job.progress.reason.clear();
  noteProgress(job);
  noteWhole(job);
}

std::optional<WallTime> JobTable::nextRelease() const {
  return heldUntil_.empty() ? std::nullopt : std::optional(heldUntil_.begin()->first);
}

void JobTable::releaseDue(WallTime now, size_t atMost) {
  for (; atMost > 0 && !heldUntil_.empty() && heldUntil_.begin()->first <= now; --atMost) {
    release(*find(heldUntil_.begin()->second));
  }
}

void JobTable::eraseOldestFinished() {
  const Job& job = *finished_.front();
  finished_.pop_front();
  if (job.progress.keepsFiles) eraseKeptFiles(job);
  finishedBytes_ -= job.index.bytes;
  bytes_ -= job.index.bytes;
  byAge_.erase(job.index.byAge);
  byNumber_.erase(job.record.number);
  job.index.ofUser->byAge.erase(job.index.byAgeOfUser);
  if (job.index.ofUser->byAge.empty()) ofUser_.erase(job.record.user);
  --counted(job);
  jobs_.erase(jobs_.find(job.record.id));
}

const Job* JobTable::numbered(JobNumber number) const {
  const auto found = byNumber_.find(number);
  return found == byNumber_.end() ? nullptr : found->second;
}

void JobTable::setNumber(Job& job, JobNumber number) {
  job.record.number = number;
  byNumber_.emplace(number, &job);
}

void JobTable::setState(Job& job, TaskIndex task, RunState state) {
  TaskRecord& record = job.tasks[task];
  recount(job, record.state, state, 1);
  record.state = state;
  noteTask(job, task);
  noteNews(job, task);
}

void JobTable::cancelWithoutRecord(Job& job) {
  const uint32_t cancelled = job.tasks.cancelWithoutRecord();
  recount(job, RunState::kQueued, RunState::kCancelled, cancelled);
  noteProgress(job);
  if (cancelled > 0) noteWhole(job);
}

void JobTable::setState(Job& job, RunState state) {
  --counted(job);
  job.progress.state = state;
  ++counted(job);
  job.changes.progress = true;
}

void JobTable::setPriority(Job& job, uint8_t priority) {
  queue_.erase(queueKeyOf(job));
  std::vector<AllocationId> inUse;
  job.tasks.forEachRecord([&inUse](const TaskRecord& task) {
    if (isActive(task.state)) inUse.push_back(task.allocation);
  });
  for (const AllocationId allocation : inUse) erasePreemptible(job, allocation);
  job.record.spec.priority = priority;
  for (const AllocationId allocation : inUse) addPreemptible(job, allocation);
  noteWhole(job);
}

void JobTable::setProfile(Job& job, Profile profile, WallTime now) {
  const QueueKey before = queueKeyOf(job);
  job.record.spec.profile = std::move(profile);
  job.record.profileReplaced = now;
  job.index.equivalenceClass = classOf(job);
  queue_.rekey(before, queueKeyOf(job));
  noteWhole(job);
}

void JobTable::setImage(Job& job, std::string digest) {
  job.record.spec.container.imageDigest = std::move(digest);
  noteWhole(job);
}

void JobTable::note(Job& job) {
  if (job.changes.noted) return;
  job.changes.noted = true;
  noted_.push_back(&job);
}

void JobTable::noteTask(Job& job, TaskIndex task) {
  note(job);
  job.changes.tasks.push_back(task);
}

void JobTable::noteProgress(Job& job) {
  note(job);
  job.changes.progress = true;
}

void JobTable::noteNews(Job& job, TaskIndex task) {
  note(job);
  job.changes.news.push_back(task);
}

void JobTable::noteWhole(Job& job) {
  note(job);
  job.changes.whole = true;
}

void JobTable::forgetNews(Job& job) {
  job.changes.news.clear();
  job.changes.whole = false;
}

JobsChanged JobTable::takeNoted() {
  // Moved from, a list that has grown would have no place of its own any more.
  JobsChanged noted = noted_;
  noted_.clear();
  return noted;
}

QueueKey JobTable::queueKeyOf(const Job& job) {
  const JobRecord& record = job.record;
  return {.user = job.index.user,
          .priority = record.spec.priority,
          .equivalenceClass = job.index.equivalenceClass,
          .submitted = job.queued,
          .job = record.id};
}

void JobTable::hold(AllocationId allocation, const Hold& hold) {
  holds_[allocation] = hold;
  count(hold);
  addPreemptible(*hold.job, allocation);
}

void JobTable::addPreemptible(const Job& job, AllocationId allocation) {
  const JobSpec& spec = job.record.spec;
  if (spec.preemptible) preemptible_[spec.priority].insert(allocation);
}

void JobTable::erasePreemptible(const Job& job, AllocationId allocation) {
  const auto ofPriority = preemptible_.find(job.record.spec.priority);
  if (ofPriority == preemptible_.end()) return;
  ofPriority->second.erase(allocation);
  if (ofPriority->second.empty()) preemptible_.erase(ofPriority);
}

void JobTable::release(AllocationId allocation) {
  const auto hold = holds_.find(allocation);
  uncount(hold->second);
  erasePreemptible(*hold->second.job, allocation);
  holds_.erase(hold);
}

void JobTable::resize(AllocationId allocation, const std::vector<RuIndex>& rus) {
  const Hold& hold = holds_.at(allocation);
  uncount(hold);
  hold.job->tasks[hold.task].rus = rus;
  count(hold);
  noteTask(*hold.job, hold.task);
}

void JobTable::count(const Hold& hold) {
  const UserNumber user = hold.job->index.user;
  const size_t held = hold.job->tasks[hold.task].rus.size();
  queue_.order().addUnits(user, countedUnits_.add(user, hold.server, held, hold.kept));
}

void JobTable::uncount(const Hold& hold) {
  const UserNumber user = hold.job->index.user;
  const size_t held = hold.job->tasks[hold.task].rus.size();
  queue_.order().addUnits(user, countedUnits_.remove(user, hold.server, held, hold.kept));
}

void JobTable::reorder(Job& job) {
  if (job.record.spec.schedule == Schedule::kGang) {
    const EquivalenceClass equivalenceClass = classOf(job);
    if (equivalenceClass != job.index.equivalenceClass) queue_.erase(queueKeyOf(job));
    job.index.equivalenceClass = equivalenceClass;
  }
  const QueueKey key = queueKeyOf(job);
  const std::pair age{job.queued, job.record.id};
  if (job.waits() && job.needsReservation()) {
    waitingForReservation_.insert(age);
  } else {
    waitingForReservation_.erase(age);
  }
  const uint32_t waitingTasks = job.waits() ? job.placeable() : 0;
  waitingTasks_ += waitingTasks;
  waitingTasks_ -= std::exchange(job.index.waitingTasks, waitingTasks);
  if (!job.waits()) return queue_.erase(key);
  // More tasks to be placed than before, or another owner.
  const auto isQueued = [&job](TaskIndex task) { return job.tasks.state(task) == RunState::kQueued; };
  const bool hasMore = job.changes.whole || std::ranges::any_of(job.changes.news, isQueued);
  const bool isNew = !job.changes.tried && !queue_.contains(key);
  queue_.put(key, hasMore || isNew);
}

const Hold* JobTable::holder(AllocationId allocation) const {
  const auto found = holds_.find(allocation);
  return found == holds_.end() ? nullptr : &found->second;
}

void JobTable::addFinished(Job& job) {
  heldUntil_.erase({job.progress.heldUntil, job.record.id});
  followers_.erase(job.record);
  finished_.push_back(&job);
  if (job.progress.keepsFiles) addKeptFiles(job);
  finishedBytes_ += job.index.bytes;
  --job.index.ofUser->unfinished;
  job.index.ofUser->bytes -= job.index.bytes;
  job.index.ofUser->fileBytes -= job.record.fileBytes;
  fileBytes_ -= job.record.fileBytes;
}

void JobTable::reopen(Job& job, const std::string& owner) {
  std::erase(finished_, &job);
  finishedBytes_ -= job.index.bytes;
  ++job.index.ofUser->unfinished;
  job.index.ofUser->bytes += job.index.bytes;
  job.index.ofUser->fileBytes += job.record.fileBytes;
  fileBytes_ += job.record.fileBytes;
  if (job.progress.keepsFiles) eraseKeptFiles(job);
  followers_.add(job.record);
  const uint32_t queued = job.tasks.queueWithoutRecord();
  recount(job, RunState::kCancelled, RunState::kQueued, queued);
  job.tasks.forEachRecord([this, &job](TaskRecord& task) {
    if (task.state == RunState::kDone || !isFinal(task.state)) return;
    task.failures = task.excused = 0;
    if (task.allocation != 0) beginNextAttempt(task);
    setState(job, task.index, RunState::kQueued);
  });
  setState(job, RunState::kQueued);
  const uint32_t decisions = job.progress.decisions;
  job.progress = {
      .id = job.record.id, .state = RunState::kQueued, .reason = {}, .owner = owner, .decisions = decisions};
  noteProgress(job);
  noteWhole(job);
}

void JobTable::addKeptFiles(Job& job) {
  keepFiles_.emplace(job.progress.finished, job.record.id);
  keptFileBytes_ += job.record.fileBytes;
}

void JobTable::eraseKeptFiles(const Job& job) {
  keepFiles_.erase({job.progress.finished, job.record.id});
  keptFileBytes_ -= job.record.fileBytes;
}

Job* JobTable::oldestWithFiles() {
  return keepFiles_.empty() ? nullptr : find(keepFiles_.begin()->second);
}

void JobTable::forgetFiles(Job& job) {
  eraseKeptFiles(job);
  job.progress.keepsFiles = false;
  noteProgress(job);
}

const Job* JobTable::oldestFinished() const {
  return finished_.empty() ? nullptr : finished_.front();
}

WallTime JobTable::latest() const {
  if (byAge_.empty()) return kNever;
  const WallTime submitted = byAge_.rbegin()->first;
  return finished_.empty() ? submitted : std::max(submitted, finished_.back()->progress.finished);
}

size_t JobTable::unfinishedOf(const std::string& user) const {
  const auto found = ofUser_.find(user);
  return found == ofUser_.end() ? 0 : found->second.unfinished;
}

size_t JobTable::unfinishedBytesOf(const std::string& user) const {
  const auto found = ofUser_.find(user);
  return found == ofUser_.end() ? 0 : found->second.bytes;
}

uint64_t JobTable::fileBytesOf(const std::string& user) const {
  const auto found = ofUser_.find(user);
  return found == ofUser_.end() ? 0 : found->second.fileBytes;
}

const ByAge& JobTable::byAgeOf(const std::string& user) const {
  static const ByAge kNone;
  const auto found = ofUser_.find(user);
  return found == ofUser_.end() ? kNone : found->second.byAge;
}

}  // namespace tarcil::master
