#include "core/decide/sampler.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

// Misses beyond these, and beyond the draws, mean that less than about half of the slots are left.
constexpr uint64_t kFreeMisses = 16;
constexpr size_t kSmallestTable = 64;

}  // namespace

void SlotSampler::start(const ServerSet& servers, uint32_t rusPerTask, Rng& rng) {
  servers_ = &servers;
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

std::optional<SlotSampler::Slot> SlotSampler::next() {
  while (!listed_) {
    const std::optional<FreeIndex::Drawn> drawn = draw_.next(*rng_);
    if (!drawn) return std::nullopt;
    Entry& entry = entryOf(drawn->server);
    // Of the server's slots those below entry.drawn are gone; units beyond the last whole slot belong to
    // none. So each slot that is left comes equally often.
    const uint32_t slot = rus_ == 1 ? drawn->unit : drawn->unit / rus_;
    const bool whole = rus_ == 1 || slot < servers_->free().unitsOf(drawn->server) / rus_;
    if (whole && slot >= entry.drawn) {
      ++entry.drawn;
      ++draws_;
      return Slot{drawn->server, entry.number};
    }
    if (++misses_ > kFreeMisses + draws_) listWhatIsLeft();
  }
  return nextListed();
}

std::optional<SlotSampler::Slot> SlotSampler::take(ServerId server) {
  const uint32_t slots = servers_->free().unitsOf(server) / rus_;
  if (slots == 0) return std::nullopt;
  Entry& entry = entryOf(server);
  if (entry.drawn == slots) return std::nullopt;
  ++entry.drawn;
  return Slot{server, entry.number};
}

SlotSampler::Entry& SlotSampler::entryOf(ServerId server) {
  if (2 * (size_t{met_} + 1) > table_.size()) grow();
  const size_t mask = table_.size() - 1;
  // Fibonacci hashing: neighbouring numbers land far apart.
  for (size_t at = (server * 0x9e3779b97f4a7c15ULL >> 32) & mask;; at = (at + 1) & mask) {
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
    size_t at = (entry.server * 0x9e3779b97f4a7c15ULL >> 32) & mask;
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

std::optional<SlotSampler::Slot> SlotSampler::nextListed() {
  if (left_.empty()) return std::nullopt;
  std::swap(left_[rng_->below(left_.size())], left_.back());
  const ServerId server = left_.back();
  left_.pop_back();
  return Slot{server, number(server)};
}

}  // namespace tarcil
