#include "master/logic/queue/equivalence_class.h"

#include <bit>
#include <functional>
#include <optional>
#include <string_view>

#include "core/model/constraint.h"
#include "core/model/job_fields.h"

namespace tarcil::master {
namespace {

class Digest {
 public:
  template <typename T>
  void add(const T& value) {
    sum_ ^= std::hash<T>{}(value) + 0x9e3779b97f4a7c15 + (sum_ << 12) + (sum_ >> 4);
  }
  void add(Duration duration) { add(duration.count()); }
  void add(WallTime time) { add(time.time_since_epoch()); }
  template <typename T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  void add(const Pressure& pressure) {
    add(std::string_view(reinterpret_cast<const char*>(pressure.data()), pressure.size()));
  }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace

EquivalenceClass equivalenceClassOf(const JobRecord& record) {
  const JobSpec& spec = record.spec;
  const Placement& placement = spec.placement;
  Digest digest;
  digest.add(spec.profile.caused);
  digest.add(spec.profile.tolerated);
  for (const auto& [platform, factor] : spec.profile.platforms) {
    digest.add(platform);
    digest.add(factor);
  }
  forEachJobField([&](const auto& field) {
    if (field.slots == Slots::kDiffer) digest.add(field.of(spec));
  });
  digest.add(std::bit_width(static_cast<uint64_t>(spec.timeout.count())));
  if (spec.schedule == Schedule::kGang) digest.add(spec.tasks);
  for (const auto& [extra, count] : spec.extras) {
    digest.add(extra);
    digest.add(count);
  }
  for (const Constraint& constraint : placement.constraints) digest.add(describe(constraint));
  for (const std::string& server : placement.prefer) digest.add(server);
  const bool isAlone =
      !placement.spread.empty() || !placement.preferOfTask.empty() || !placement.requireOfTask.empty();
  if (isAlone) digest.add(toString(record.id));
  return digest.sum();
}

EquivalenceClass ownEquivalenceClass(const JobRecord& record) {
  Digest digest;
  digest.add(toString(record.id));
  return digest.sum();
}

}  // namespace tarcil::master
