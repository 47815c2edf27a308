#include "core/model/job_size.h"

#include <string>

namespace tarcil {
namespace {

// Everything of a fixed size.
constexpr size_t kFixed = 512;
// A text's own share of a list or a struct, beside its characters.
constexpr size_t kText = 16;

// That a job waits for another one, in the master's table of who waits for whom.
constexpr size_t kWaiter = 80;

size_t bytes(const std::string& text) {
  return kText + text.size();
}

template <typename Element>
size_t bytes(const std::vector<Element>& elements);
size_t bytes(const Constraint& constraint) {
  return bytes(constraint.attribute) + bytes(constraint.values);
}

template <typename Element>
size_t bytes(const std::vector<Element>& elements) {
  size_t sum = kText;
  for (const Element& element : elements) sum += bytes(element);
  return sum;
}

size_t bytes(const std::map<std::string, double>& numbers) {
  size_t sum = kText;
  for (const auto& [name, number] : numbers) sum += bytes(name) + sizeof number;
  return sum;
}

}  // namespace

size_t sizeOf(const JobSpec& spec) {
  size_t sum = kFixed + bytes(spec.name) + bytes(spec.workdir) + bytes(spec.user) +
               bytes(spec.container.rootfs) + bytes(spec.container.bundle) + bytes(spec.container.image) +
               bytes(spec.container.imageDigest) + bytes(spec.measures) + bytes(spec.profile.application) +
               bytes(spec.profile.platforms) + bytes(spec.earlier) + bytes(spec.command) +
               bytes(spec.placement.constraints) + bytes(spec.placement.prefer) + bytes(spec.placement.pack) +
               bytes(spec.placement.spread);
  sum += bytes(spec.input) + bytes(spec.output) + bytes(spec.error) + bytes(spec.results) +
         bytes(spec.secrets) + bytes(spec.items.all()) + spec.after.size() * (kWaiter + sizeof(JobId));
  for (const auto& [name, value] : spec.env) sum += bytes(name) + bytes(value);
  for (const auto& [kind, count] : spec.extras) sum += bytes(kind) + sizeof count;
  for (const auto& [task, servers] : spec.placement.preferOfTask) sum += sizeof task + bytes(servers);
  for (const auto& [task, required] : spec.placement.requireOfTask) sum += sizeof task + bytes(required);
  return sum;
}

size_t sizeOf(const InputFile& file) {
  return bytes(file.path) + file.content.size();
}

size_t sizeOf(const std::vector<InputFile>& files) {
  size_t sum = 0;
  for (const InputFile& file : files) sum += sizeOf(file);
  return sum;
}

}  // namespace tarcil
