// A job and its tasks as `job status`, `submit --wait` and `run` show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/output/render.h"
#include "core/state/job_state.h"
#include "core/state/server_pressure.h"
#include "formats/json.h"
#include "rpc/errors.h"

namespace tarcil {

struct JobStatus {
  JobRecord record;
  JobProgress progress;
  std::vector<TaskRecord> tasks;            // every task, in order
  uint32_t ahead = 0;                       // waiting jobs before it
  WallTime expectedStart = kNever;          // where it waits and that is known
  std::vector<TaskViolation> violations{};  // of tasks that perform badly
  std::vector<AdjustingStep> steps{};       // what was done for them, the newest last
  std::vector<TaskCharge> charges{};        // of tasks that were measured
};

// With every task, which takes an answer for each 2,000.
kj::Promise<JobStatus> fetchJob(Client& client, const JobId& id);
// With so many of its tasks, from `first` on, at most 2,000.
kj::Promise<JobStatus> fetchJobPage(Client& client, const JobId& id, TaskIndex first, uint32_t limit);
// Without its tasks and what is made of them.
kj::Promise<JobRecord> fetchRecord(Client& client, const JobId& id);
// Nothing where the cluster's state has no such job: it may be bound late (cli/late_job.h).
std::optional<JobStatus> tryFetchJob(Cluster& cluster, const JobId& id);
// How far a job is, without its tasks.
struct JobCounts {
  JobProgress progress;
  std::vector<uint32_t> inState;  // tasks by RunState
};
kj::Promise<JobCounts> fetchCounts(Client& client, const JobId& id);
// The same of any question about a job: nothing in place of NotFound.
template <typename T>
kj::Promise<std::optional<T>> foundOrNothing(kj::Promise<T> promise) {
  return promise.then([](T&& found) { return std::optional(std::move(found)); },
                      [](kj::Exception&& exception) -> std::optional<T> {
                        if (fromException(exception).code != ErrorCode::kNotFound)
                          kj::throwFatalException(kj::mv(exception));
                        return std::nullopt;
                      });
}

// Done when the job has ended and that is on disk.
kj::Promise<RunState> waitForJob(Client& client, const JobId& id);

// The answer to a job that was taken, and is not waited for.
Json jsonOfAccepted(JobNumber number, const JobId& id);
void printAccepted(const OutputFlags& output, JobNumber number, const JobId& id);

// The status object that interfaces rely on.
Json jsonOf(const JobStatus& job);

// The image that its tasks run: `reference` and `digest`, null until a task has started; null without one.
Json jsonOfImage(const JobStatus& job);

// What a task is charged for: `charged` by resource (null where it was not measured: what is declared) and
// `measured`, the resources of which that was measured.
Json jsonOfCharge(const JobStatus& job, const TaskRecord& task);

// The same for people: the job's fields, then its tasks (the first ones, unless verbose).
std::string textOf(const JobStatus& job, const Style& style);

// How an attempt ended: "exit 3", "signal 9 (out of memory)"; empty for a task that has not ended.
std::string resultOf(const TaskRecord& task);

// "2 queued, 6 running", in the order of the states; only those that there are.
std::string textOfCounts(const std::vector<uint32_t>& inState);

}  // namespace tarcil
