#include "master/logic/message_size.h"

#include "core/model/job_size.h"

namespace tarcil {
namespace {

size_t bytes(const RuSet& set) {
  return 8 * set.words().size();
}

size_t bytes(const std::map<std::string, std::string>& texts) {
  size_t sum = 0;
  for (const auto& [key, value] : texts) sum += 32 + key.size() + value.size();
  return sum;
}

}  // namespace

size_t wireBytesOf(const ServerStatus& status) {
  size_t sum = 160 + bytes(status.free);
  for (const auto& [kind, free] : status.freeExtras) sum += 32 + kind.size() + bytes(free);
  return sum;
}

size_t wireBytesOf(const ServerFacts& facts) {
  size_t sum = 160 + facts.name.size() + facts.platform.size() + facts.rack.size() + facts.address.size() +
               bytes(facts.attributes);
  for (const std::string& missing : facts.missing) sum += 16 + missing.size();
  return sum;
}

size_t wireBytesOf(const JobAssignment& assignment) {
  size_t sum = sizeOf(assignment.job.spec) + assignment.job.user.size() + assignment.job.runAs.size() +
               8 * assignment.waiting.size();
  for (const TaskAssignment& task : assignment.tasks) {
    sum += 80 + 2 * task.rus.size();
    for (const auto& [kind, numbers] : task.extras) sum += 32 + kind.size() + 2 * numbers.size();
  }
  return sum;
}

size_t wireBytesOf(const ServerView& server) {
  size_t sum = 200 + wireBytesOf(server.facts) + wireBytesOf(server.status) + server.reason.size() +
               2 * server.pool.size();
  for (const ServerView::Task& task : server.tasks) {
    sum += 300 + 2 * task.rus.size() + task.over.size();
    for (const auto& [kind, numbers] : task.extras) sum += 32 + kind.size() + 2 * numbers.size();
  }
  for (const AbsentPressure& absent : server.absent) sum += 32 + absent.reason.size();
  for (const TaskViolation& violation : server.violations) {
    sum += 200 + violation.server.size();
    for (const std::string& neighbour : violation.neighbours) sum += 64 + neighbour.size();
  }
  return sum;
}

size_t wireBytesOf(const StoredProfile& stored) {
  size_t sum = 400 + stored.profile.application.size() + stored.user.size() + stored.note.size() +
               32 * stored.history.size();
  for (const auto& [platform, factor] : stored.profile.platforms) sum += 32 + platform.size();
  return sum;
}

size_t wireBytesOf(const Profiling& profiling) {
  return 100 + profiling.application.size() + profiling.user.size() + profiling.problem.size();
}

size_t wireBytesOf(const ObservedProfile& observed) {
  size_t sum = 100 + 24 * observed.caused.size() + observed.application.size() + observed.user.size();
  for (const ObservedPerformance& each : observed.performances) sum += 80 + each.platform.size();
  return sum;
}

}  // namespace tarcil
