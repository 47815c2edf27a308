// The policies that Sparrow is compared with: servers are chosen before they are ready. Part of JobScheduler.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "latebinding/job_scheduler.h"

namespace tarcil::late {
namespace {

constexpr int32_t kUnknown = INT32_MAX;

}  // namespace

// Asks d * m servers how long their queues are; with fewer servers, some count for several tasks.
void JobScheduler::look(HeldJob& job, Rng& rng, SchedulerActions& actions) {
  const auto wanted = static_cast<size_t>(std::ceil(job.ratio * job.spec.tasks - 1e-9));
  const auto servers = groups_.sample(job.spec.group, wanted, rng);
  for (ProbeIndex i = 0; i < servers.size(); ++i) {
    job.probes.push_back({.server = servers[i]});
    actions.looks.push_back({agent_, servers[i], job.number, i});
  }
  job.lengths.assign(job.probes.size(), kUnknown);
}

void JobScheduler::handle(const QueueLength& message, SchedulerActions& actions) {
  HeldJob* job = find(message.job);
  if (job == nullptr || message.probe >= job->lengths.size() || job->lengths[message.probe] != kUnknown)
    return;
  job->lengths[message.probe] = message.length;
  if (++job->answers == job->lengths.size()) placeByLength(*job, actions);
}

// A server that was looked at is lost before all have answered: tasks go anywhere then.
void JobScheduler::forgetLengths(HeldJob& job) {
  if (job.answers == job.lengths.size()) return;
  job.lengths.clear();
  job.answers = 0;
}

// Ties go by the order of the sample, which is one of chance.
void JobScheduler::placeByLength(HeldJob& job, SchedulerActions& actions) {
  std::vector<ProbeIndex> order(job.lengths.size());
  std::iota(order.begin(), order.end(), 0);
  const auto isShorter = [&](ProbeIndex a, ProbeIndex b) { return job.lengths[a] < job.lengths[b]; };
  if (job.spec.policy == LatePolicy::kBatch) std::stable_sort(order.begin(), order.end(), isShorter);
  const size_t servers = order.size();
  while (job.fresh < job.spec.tasks) {
    const TaskIndex task = job.fresh++;
    ProbeIndex best = order[task % servers];
    if (job.spec.policy == LatePolicy::kPerTask) {
      // A task's own probes follow those of the one before; fractions of d add up.
      const auto from = static_cast<size_t>(job.ratio * task),
                 to = static_cast<size_t>(job.ratio * (task + 1));
      best = order[from % servers];
      for (size_t i = from + 1; i < to; ++i) {
        if (isShorter(order[i % servers], best)) best = order[i % servers];
      }
    }
    bind(job, task, job.probes[best].server, actions);
  }
}

// At random: by policy, or because the server it was bound to is lost.
void JobScheduler::placeAnywhere(HeldJob& job, Rng& rng, SchedulerActions& actions) {
  const auto servers = groups_.sample(job.spec.group, job.waiting, rng);
  for (size_t i = 0; job.waiting > 0 && !servers.empty(); ++i) {
    bind(job, nextFor(job, 0), servers[i % servers.size()], actions);
  }
}

void JobScheduler::bind(HeldJob& job, TaskIndex index, ServerId server, SchedulerActions& actions) {
  HeldTask& task = job.tasks[index];
  task.state = HeldTask::State::kGiven;
  task.lease = 0;
  task.probe = static_cast<ProbeIndex>(job.probes.size());
  ++task.attempts;
  --job.waiting;
  job.probes.push_back({.server = server});
  Reserve bound = reserveOf(job, task.probe);
  bound.count = 1;
  bound.task = index;
  actions.reserves.push_back(bound);
}

}  // namespace tarcil::late
