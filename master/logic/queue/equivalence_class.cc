#include "master/logic/queue/equivalence_class.h"

#include <bit>
#include <functional>
#include <string_view>

#include "core/model/constraint.h"

namespace tarcil::master {
namespace {

class Digest {
 public:
  template <typename T>
  void add(const T& value) {
    sum_ ^= std::hash<T>{}(value) + 0x9e3779b97f4a7c15 + (sum_ << 12) + (sum_ >> 4);
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
  digest.add(spec.rusPerTask);
  digest.add(spec.target.value_or(-1));
  digest.add(spec.confidence.value_or(-1));
  digest.add(spec.maxWait ? spec.maxWait->count() : int64_t{-1});
  digest.add(std::bit_width(static_cast<uint64_t>(spec.timeout.count())));
  digest.add(spec.protectNeighbours);
  digest.add(static_cast<int>(spec.policy));
  digest.add(static_cast<int>(placement.pack));
  if (spec.schedule == Schedule::kGang) digest.add(spec.tasks);
  for (const auto& [extra, count] : spec.extras) {
    digest.add(extra);
    digest.add(count);
  }
  for (const Constraint& constraint : placement.constraints) digest.add(describe(constraint));
  for (const std::string& server : placement.prefer) digest.add(server);
  const bool isAlone = placement.spread != Spread::kNone || !placement.preferOfTask.empty();
  if (isAlone) digest.add(toString(record.id));
  return digest.sum();
}

EquivalenceClass ownEquivalenceClass(const JobRecord& record) {
  Digest digest;
  digest.add(toString(record.id));
  return digest.sum();
}

}  // namespace tarcil::master
