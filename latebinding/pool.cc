#include "latebinding/pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace tarcil::late {
namespace {

uint32_t roundedUp(double units, uint32_t block) {
  return static_cast<uint32_t>(std::min(std::ceil(units / block) * block, 1.0 * UINT16_MAX));
}

uint64_t word(const RuSet& set, size_t index) {
  return index < set.words().size() ? set.words()[index] : 0;
}

RuSet without(const RuSet& set, const RuSet& gone) {
  RuSet::Words words = set.words();
  for (size_t i = 0; i < words.size(); ++i) words[i] &= ~word(gone, i);
  return RuSet::fromWords(std::move(words));
}

}  // namespace

RuIndex Pool::take() {
  size_t index = 0;
  while ((word(held_, index) & ~word(taken_, index)) == 0) ++index;
  const int bit = std::countr_zero(word(held_, index) & ~word(taken_, index));
  const auto ru = static_cast<RuIndex>(64 * index + static_cast<size_t>(bit));
  taken_.insert(ru);
  return ru;
}

// Units for what runs and, of what is queued, for the tasks that will run here.
uint32_t Pool::needed(const PoolDemand& demand) const {
  const double tasks = demand.busy + static_cast<double>(demand.queued) / options_.reservationsPerTask;
  return std::clamp(roundedUp(tasks, options_.block), options_.least, options_.most);
}

// The highest of the last while, this one included.
uint32_t Pool::mostNeeded(uint32_t units, MonotonicTime now) {
  MonotonicTime since = now;
  while (!peaks_.empty() && peaks_.back().units <= units) {
    since = peaks_.back().since;
    peaks_.pop_back();
  }
  peaks_.push_back({since, units});
  // A peak ended when the one after it began.
  while (peaks_.size() > 1 && peaks_[1].since + options_.shrinkAfter <= now) peaks_.pop_front();
  return peaks_.front().units;
}

// Units on which nothing runs, the highest first to go.
RuSet Pool::idle(uint32_t count) const {
  const RuSet free = without(held_, taken_);
  const uint32_t size = free.size();
  RuSet last = free;
  for (RuIndex ru : free.first(size - std::min(count, size))) last.erase(ru);
  return last;
}

std::optional<PoolReport> Pool::update(const PoolDemand& demand, MonotonicTime now) {
  const uint32_t wanted = mostNeeded(needed(demand), now);
  target_ = std::min(wanted, std::max(limit_.units, options_.least));
  wake_ = peaks_.size() > 1 ? peaks_[1].since + options_.shrinkAfter : MonotonicTime::max();
  if (underWay_) {
    const bool isDue = now >= sent_ + options_.repeat;
    if (isDue) sent_ = now;
    wake_ = std::min(wake_, sent_ + options_.repeat);
    return isDue ? underWay_ : std::nullopt;
  }
  const uint32_t held = held_.size();
  const uint32_t beyond = held - std::min(held, std::max(target_, demand.busy));
  const bool grows = target_ > held;
  if (grows && now < mayGrow_) wake_ = std::min(wake_, mayGrow_);
  // The first report says that an earlier monitor's units are free.
  if (sequence_ > 0 && beyond == 0 && (!grows || now < mayGrow_)) return std::nullopt;
  underWay_ =
      PoolReport{incarnation_, ++sequence_, std::max(target_, held - beyond), options_.least, idle(beyond)};
  held_ = without(held_, underWay_->returned);
  sent_ = now;
  wake_ = std::min(wake_, sent_ + options_.repeat);
  return underWay_;
}

void Pool::handle(const PoolAnswer& answer, MonotonicTime now) {
  if (!underWay_ || answer.incarnation != incarnation_ || answer.sequence != underWay_->sequence) return;
  for (RuIndex ru : answer.granted.first(answer.granted.size())) held_.insert(ru);
  if (held_.size() < underWay_->wanted) mayGrow_ = now + options_.growPause;
  underWay_.reset();
}

void Pool::handle(const PoolLimit& limit) {
  if (limit.revision > limit_.revision) limit_ = limit;
}

}  // namespace tarcil::late
