#include "core/decide/sampler.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

// Misses beyond these, and beyond the draws, mean that less than about half of the slots are left.
constexpr uint64_t kFreeMisses = 16;
constexpr size_t kSmallestTable = 64;

}  // namespace

void SlotSampler::start(const ServerSet& servers, std::span<const Vacancy> records, uint32_t rusPerTask,
                        Rng& rng) {
  servers_ = &servers;
  records_ = records.data();
  rng_ = &rng;
  rus_ = rusPerTask;
  servers.free().prepare(draw_, rusPerTask);
  if (table_.empty()) table_.resize(kSmallestTable);
  if (++sample_ == 0) {  // the counter went round: old entries would look like new ones
    table_.assign(table_.size(), {});
    sample_ = 1;
  }
  met_ = 0;
  draws_ = misses_ = 0;
  listed_ = false;
  left_.clear();
}

void SlotSampler::draw(size_t count, std::vector<Slot>& slots) {
  const size_t end = slots.size() + count;
  while (slots.size() < end && !listed_ && !draw_.empty()) {
    drawSome(std::min(end - slots.size(), kAhead), slots);
    if (misses_ > kFreeMisses + draws_) listWhatIsLeft();
  }
  if (listed_) drawListed(end - slots.size(), slots);
}

// First all servers, then what was drawn of each before: so memory is waited for once and not for each slot.
void SlotSampler::drawSome(size_t count, std::vector<Slot>& slots) {
  const std::span<FreeIndex::Drawn> ahead(ahead_.data(), count);
  draw_.next(*rng_, ahead);
  for (const FreeIndex::Drawn& drawn : ahead) {
    __builtin_prefetch(&table_[placeOf(drawn.server)]);
    __builtin_prefetch(&records_[drawn.server]);
  }
  for (const auto [server, unit] : ahead) {
    Entry& entry = entryOf(server);
    // Of the server's slots those below entry.drawn are gone; units beyond the last whole slot belong to
    // none. So each slot that is left comes equally often.
    const uint32_t slot = rus_ == 1 ? unit : unit / rus_;
    const bool whole = rus_ == 1 || slot < servers_->free().unitsOf(server) / rus_;
    if (whole && slot >= entry.drawn) {
      ++entry.drawn;
      ++draws_;
      slots.push_back({server, entry.number});
    } else {
      ++misses_;
    }
  }
}

std::optional<SlotSampler::Slot> SlotSampler::take(ServerId server) {
  const uint32_t slots = servers_->free().unitsOf(server) / rus_;
  if (slots == 0) return std::nullopt;
  Entry& entry = entryOf(server);
  if (entry.drawn == slots) return std::nullopt;
  ++entry.drawn;
  return Slot{server, entry.number};
}

// Fibonacci hashing: neighbouring numbers land far apart.
size_t SlotSampler::placeOf(ServerId server) const {
  return (server * 0x9e3779b97f4a7c15ULL >> 32) & (table_.size() - 1);
}

SlotSampler::Entry& SlotSampler::entryOf(ServerId server) {
  if (2 * (size_t{met_} + 1) > table_.size()) grow();
  const size_t mask = table_.size() - 1;
  for (size_t at = placeOf(server);; at = (at + 1) & mask) {
    Entry& entry = table_[at];
    if (entry.sample != sample_) {
      entry = {server, sample_, met_++, 0};
      return entry;
    }
    if (entry.server == server) return entry;
  }
}

void SlotSampler::grow() {
  const std::vector<Entry> old = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
  const size_t mask = table_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.sample != sample_) continue;
    size_t at = placeOf(entry.server);
    while (table_[at].sample == sample_) at = (at + 1) & mask;
    table_[at] = entry;
  }
}

void SlotSampler::listWhatIsLeft() {
  listed_ = true;
  servers_->free().forEach([this](ServerId server) {
    const uint32_t slots = servers_->free().unitsOf(server) / rus_;
    if (slots == 0) return;
    left_.insert(left_.end(), slots - entryOf(server).drawn, server);
  });
}

void SlotSampler::drawListed(size_t count, std::vector<Slot>& slots) {
  for (; count > 0 && !left_.empty(); --count) {
    std::swap(left_[rng_->below(left_.size())], left_.back());
    slots.push_back({left_.back(), number(left_.back())});
    left_.pop_back();
  }
}

}  // namespace tarcil
