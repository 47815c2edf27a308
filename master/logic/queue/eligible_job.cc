#include "master/logic/queue/eligible_job.h"

#include <unordered_set>

#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/spreading.h"

namespace tarcil::master {
namespace {

bool fits(const Tables& tables, const Server& server, const Job& job) {
  const JobSpec& spec = job.record.spec;
  if (!isFeasible(server, spec)) return false;
  if (Spreading(tables.servers, job).isFull(server)) return false;
  return verdictOn(spec, tables.settings, server, freshClaim(server, spec.rusPerTask)) == Verdict::kGranted;
}

}  // namespace

const Job* nextEligibleJob(const Tables& tables, const Server& server, const Job* without) {
  const Job* found = nullptr;
  size_t looked = 0;
  std::unordered_set<EquivalenceClass> unfit;  // jobs of one class find the same slots acceptable
  tables.jobs.queue().order().walk([&](const QueueKey& key) -> std::optional<uint64_t> {
    const Job& job = *tables.jobs.find(key.job);
    if (++looked > kMaxEligibleExamined) return std::nullopt;
    if (&job == without || unfit.contains(key.equivalenceClass)) return job.wanted().units();
    if (fits(tables, server, job)) {
      found = &job;
      return std::nullopt;
    }
    unfit.insert(key.equivalenceClass);
    return job.wanted().units();
  });
  return found;
}

}  // namespace tarcil::master
