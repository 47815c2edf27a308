#include "master/server/message_size.h"

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

}  // namespace tarcil
